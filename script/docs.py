"""Write docs/cli.md from the commands themselves: `script/docs`.

The JSON that commands print is described by hand, in docs/json.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from migrate.cli import cli  # noqa: E402 - the checkout's own, found just above

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "cli.md"
HEAD = """\
# The command line

Written by `script/docs` from the commands themselves; do not edit it here. The JSON of
each command is described in [json.md](json.md), settings in [settings.md](settings.md).

`python -m migrate` in a checkout is the same as the installed command `cronshift`.
Results go to stdout, remarks and faults to stderr; colours are for terminals only.
"""


def page() -> str:
    """Give the whole page."""
    return "\n".join([HEAD, *_section(cli, "cronshift", None)])


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
    )
    yield f"## `{context.command_path}`\n"
    yield f"```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for within in command.list_commands(context):
            found = command.get_command(context, within)
            if found is not None and not found.hidden:
                yield from _section(found, within, context)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
