"""A stand-in for gcloud that only notes down the words it is given."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PROGRAM = """\
#!/bin/bash
printf '%s\\0' "$#" "$@" >>"$RECORD"
exit {status}
"""


def run(
    script: str, folder: Path, fails_with: int = 0
) -> subprocess.CompletedProcess[bytes]:
    """Run a script where `gcloud` is the stand-in, in the plainest environment."""
    program = folder / "gcloud"
    program.write_text(_PROGRAM.format(status=fails_with))
    program.chmod(0o755)
    (folder / "record").write_bytes(b"")
    return subprocess.run(
        ["/bin/bash"],
        input=script.encode(),
        env={"PATH": str(folder), "RECORD": str(folder / "record")},
        capture_output=True,
        check=False,
        timeout=60,
    )


def recorded(folder: Path) -> list[list[str]]:
    """Give the words of each command that the stand-in saw."""
    words = (folder / "record").read_bytes().decode().split("\0")[:-1]
    found = []
    while words:
        count = int(words[0])
        found.append(words[1 : count + 1])
        del words[: count + 1]
    return found


def commands(script: str, folder: Path) -> list[list[str]]:
    """Run a script that succeeds in silence, and give what gcloud saw."""
    ran = run(script, folder)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    return recorded(folder)
