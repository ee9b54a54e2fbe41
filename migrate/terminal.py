"""Printing and ending: the only place of the migrator that writes to a terminal.

One meaning of exit codes in every command: 0 done; 1 the answer is no (findings, a
divergence, a loss that is not accepted); 2 could not (an unreadable file, bad usage,
faults in a file; for `audit` faults are findings, so 1).
"""

from __future__ import annotations

import codecs
import json
import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.text import Text

DONE: Final = 0
NO: Final = 1
COULD_NOT: Final = 2
DETAILED: Final = "--detailed-exitcode"


def run(command: click.Command) -> NoReturn:
    """Run a command. Ends the process with an exit code, never with a traceback."""
    # Terraform's contract: with it, 2 says that there are changes, and 1 is any error.
    could_not = NO if DETAILED in sys.argv[1:] else COULD_NOT
    codecs.register_error("cronshift", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="cronshift")
    try:
        code = command.main(prog_name="cronshift", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        sys.exit(could_not)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(could_not)
    except SystemExit as ended:
        sys.exit(could_not if ended.code == COULD_NOT else ended.code)
    except BrokenPipeError:
        _leave()
    sys.exit(code)


def _leave() -> NoReturn:
    """End well: who reads our output has read enough (`cronshift next . | head`)."""
    _write_no_more()
    sys.exit(DONE)


def _write_no_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str | bytes, *, color: bool | None = None) -> None:
    try:
        click.echo(text, nl=False, color=color)
    except BrokenPipeError:  # click itself would end with 1, which here means no
        _leave()


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Write what a terminal's encoding lacks with the characters that it has."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = {"→": "->", "…": "..."}
    lacking = error.object[error.start : error.end]
    written = (
        plain.get(one) or one.encode("ascii", "backslashreplace").decode("ascii")
        for one in lacking
    )
    return "".join(written), error.end


def show(lines: Iterable[Text]) -> None:
    """Print lines for people: in colour on a terminal, never broken."""
    text, colour = _rendered(lines)
    _write(text, color=colour)


def show_at_work(lines: Iterable[Text]) -> None:
    """Print lines beside work that goes on, and counts, though nobody reads on."""
    text, colour = _rendered(lines)
    try:
        click.echo(text, nl=False, color=colour)
    except BrokenPipeError:
        _write_no_more()


def _rendered(lines: Iterable[Text]) -> tuple[str, bool]:
    """Give lines as text, and whether it is for a terminal."""
    from rich.console import Console  # noqa: PLC0415 - slow to load

    console = Console(highlight=False, soft_wrap=True, emoji=False, markup=False)
    if not console.is_terminal:  # nothing to colour, and rich would take its time
        return "".join(f"{line.plain}\n" for line in lines), False
    with console.capture() as captured:  # rich would end a broken pipe itself
        for line in lines:
            console.print(line)
    return captured.get(), True


_SEVERITIES: Final = {"error": "red", "warning": "yellow", "info": "cyan"}


def show_findings(text: str) -> None:
    """Print findings, their severity and code in colour on a terminal."""
    from rich.text import Text  # noqa: PLC0415 - slow to load

    lines = []
    for line in text.splitlines():
        shown = Text(line)
        for severity, colour in _SEVERITIES.items():
            shown.highlight_regex(rf"(?<=: ){severity} [a-z0-9-]+(?=: )", colour)
        lines.append(shown)
    show(lines)


def show_json(document: dict[str, Any]) -> None:
    """Print a document for programs."""
    show_exactly(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def show_exactly(text: str) -> None:
    """Print what a program is to read: UTF-8, whatever the terminal's encoding."""
    # A file's name may hold bytes that are no text; JSON can say them escaped.
    _write(text.encode("utf-8", "backslashreplace"))


def remark(text: str) -> None:
    """Say something beside the result."""
    click.echo(text, err=True)


def confirm(question: str) -> None:
    """Ask, and end the command with 1 on no; without anybody to ask, say the option."""
    if not sys.stdin.isatty():
        fail("nobody is there to ask: --yes goes on without")
    if not click.confirm(question):
        remark("nothing was done")
        sys.exit(NO)


def leave_at_once(text: str) -> NoReturn:
    """End the process with 1 from a signal: threads would else be waited for.

    The signal may have come in the midst of a write, and streams bear no second.
    """
    try:
        os.write(sys.stderr.fileno(), f"{text}\n".encode())
    finally:
        os._exit(NO)


def end(code: int) -> NoReturn:
    """End the command with this exit code; all is said."""
    sys.exit(code)


def fail(text: str) -> NoReturn:
    """End the command because it could not do its work."""
    click.echo(f"cronshift: {text}", err=True)
    sys.exit(COULD_NOT)
