"""What the parts of script/bench share: the machine, timing, and one kind of table."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def machine() -> str:
    """Describe the machine that the figures are of."""
    processor = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        )
        if Path("/proc/cpuinfo").exists()
        else iter(()),
        platform.processor() or platform.machine(),
    )
    python = platform.python_version()
    return f"{processor}, {os.cpu_count()} cores, Python {python}, {sys.platform}"


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """Give the seconds of the fastest of some rounds, which is the least disturbed."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def median(work: Callable[[], object], rounds: int = 5) -> float:
    """Give the median seconds of some rounds: for whole processes."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def heading(text: str) -> None:
    """Print the heading of a part."""
    print(f"\n## {text}\n")


def row(*cells: str) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(cells)} |")


def header(*cells: str) -> None:
    """Print a table's header."""
    row(*cells)
    row(*("---" for _ in cells))


def against(ratio: float, goal: float, *, least: bool) -> str:
    """Say a ratio beside its goal: at least, or at most."""
    met = ratio >= goal if least else ratio <= goal
    wanted = f"goal {'≥' if least else '≤'} {goal:g}"
    return f"{ratio:.2f} × ({wanted}: {'met' if met else 'MISSED'})"


if __name__ == "__main__":
    print(f"# cronshift's speed on: {machine()}")
