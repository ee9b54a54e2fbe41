"""Write docs/cli.md, and the output of every example on any page: `script/docs`.

docs/cli.md is made from the commands themselves. On other pages, a `console` block
holds commands after `$ ` and what they print; those of ours are run in the repository's
root, as of one day, and their output is written anew. A block after the line
`<!-- illustrative -->` is left alone, as are pipes. The JSON that commands print is
described by hand, in docs/json.md.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final
from unittest import mock

import click
from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from migrate import cli as commands  # noqa: E402 - the checkout's own, found just above

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = ROOT / "docs" / "cli.md"
AS_OF: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""The day of the examples: what they tell of coming days hangs on it."""
HEAD: Final = """\
# The command line

Written by `script/docs` from the commands themselves; do not edit it here. The JSON of
each command is described in [json.md](json.md), settings in [settings.md](settings.md).

`python -m migrate` in a checkout is the same as the installed command `cronshift`.
Results go to stdout, remarks and faults to stderr; colours are for terminals only.
"""


def page() -> str:
    """Give the whole page."""
    return "\n".join([HEAD, *_section(commands.cli, "cronshift", None)])


def _section(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[str]:
    """Yield a command's heading and help, then those of the commands within."""
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=88,
        max_content_width=88,
        **command.context_settings,
    )
    yield f"## `{context.command_path}`\n"
    yield f"```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for within in command.list_commands(context):
            found = command.get_command(context, within)
            if found is not None and not found.hidden:
                yield from _section(found, within, context)


_BLOCK: Final = re.compile(
    r"(?P<mark><!-- illustrative -->\n)?^```console\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_OURS: Final = re.compile(
    r"\$ (?:cronshift|python -m migrate) (?P<arguments>[^<>|;&\\]+)"
)


def pages() -> list[Path]:
    """Give the pages that may hold examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def refreshed(text: str) -> str:
    """Give a page with the true output of each of its examples."""
    return _BLOCK.sub(lambda block: block[0] if block["mark"] else _run(block), text)


def _run(block: re.Match[str]) -> str:
    """Run the commands of ours in a block; others, and pipes, are left alone."""
    shown = []
    for step in re.findall(r"^\$ .*\n(?:(?!\$ ).*\n)*", block["body"], re.MULTILINE):
        line = step.partition("\n")[0]
        found = _OURS.fullmatch(line)
        shown.append(f"{line}\n{_output(found['arguments'])}" if found else step)
    return f"```console\n{''.join(shown)}```"


def _output(line: str) -> str:
    """Run one command of ours and give what it prints, stderr where it comes."""
    arguments = shlex.split(line)
    with (
        mock.patch.object(commands, "_now", return_value=AS_OF),
        mock.patch.dict(os.environ, {"NO_COLOR": "1"}),
    ):
        os.environ.pop("CLOUDSDK_CORE_PROJECT", None)
        os.environ.pop("GOOGLE_CLOUD_PROJECT", None)
        result = CliRunner().invoke(commands.cli, arguments, prog_name="cronshift")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def main() -> None:
    """Write all pages anew."""
    os.chdir(ROOT)
    PAGE.write_text(page(), encoding="utf-8")
    for path in pages():
        text = path.read_text(encoding="utf-8")
        if refreshed(text) != text:
            path.write_text(refreshed(text), encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
