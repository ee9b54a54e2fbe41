"""The whole `translate` process against gcloud's deploy; its growth and memory."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchlib import against, header, heading, median, row

SIZES = (250, 1_000, 2_500, 5_000, 10_000)
ZONES = (
    "Europe/Rome America/New_York UTC Asia/Tokyo America/Los_Angeles "
    "Australia/Sydney Europe/London"
).split()


def entries(count: int) -> str:
    """Make a cron.yaml with every kind of schedule in several zones."""
    rng = random.Random(count)  # noqa: S311 - a made file, the same at every run
    lines = ["cron:"]
    for number in range(count):
        at = f"{rng.randrange(24):02}:{rng.randrange(60):02}"
        hour = rng.randrange(24)
        schedule = rng.choice(
            (
                f"every {rng.choice((1, 5, 10, 30))} minutes",
                f"every day {at}",
                f"every {rng.choice(('monday', 'tue,thu', 'sat,sun'))} {at}",
                f"{rng.randrange(1, 29)} of month {at}",
                f"1st,3rd monday of month {at}",
                f"every 15 minutes from {hour:02}:00 to {(hour + 6) % 24:02}:45",
                f"every {rng.choice((1, 2, 3, 4, 6))} hours synchronized",
            )
        )
        lines += [
            f"- description: job {number}",
            f"  url: /tasks/t{number}",
            f"  schedule: {schedule}",
            f"  timezone: {rng.choice(ZONES)}",
        ]
        if number % 3 == 0:
            lines.append("  retry_parameters: {job_retry_limit: 3}")
    return "\n".join(lines) + "\n"


def translate(folder: Path) -> None:
    """Run the whole process, as a user does."""
    subprocess.run(
        [sys.executable, "-m", "migrate", "translate", str(folder), "--format", "json"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def peak(folder: Path) -> float:
    """Give the most memory that the process held, in MB."""
    program = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-m", "migrate", "translate", str(folder)]
    found = subprocess.run(
        [sys.executable, "-c", program, *command, "--format", "json"],
        check=True,
        capture_output=True,
        text=True,
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return int(found.stdout) * unit / 1e6


def deploy(folder: Path) -> float | None:
    """Time `gcloud app deploy cron.yaml` against the API emulated here."""
    if shutil.which("gcloud") is None:
        return None
    from emulator.server import start  # noqa: PLC0415 - only where gcloud is there
    from tests.emulator.gcloud import environment  # noqa: PLC0415 - as above

    times = []
    for _ in range(3):  # each into an empty project, as the first deploy is
        with start() as running, tempfile.TemporaryDirectory() as config:
            command = ["gcloud", "app", "deploy", "--quiet", str(folder / "cron.yaml")]
            where = environment(running, Path(config))
            times.append(
                median(
                    lambda command=command, where=where: subprocess.run(
                        command, check=True, env=where, capture_output=True
                    ),
                    1,
                )
            )
    return sorted(times)[1]


def main() -> None:
    """Measure and print."""
    heading("translate: the whole process, 250 entries, parsed, routed and proven")
    with tempfile.TemporaryDirectory() as name:
        folders = {}
        for size in SIZES:
            folders[size] = Path(name, str(size))
            folders[size].mkdir()
            (folders[size] / "cron.yaml").write_text(entries(size))
        least = folders[250]
        ours = median(lambda: translate(least))
        header("what", "seconds", "ratio")
        row("cronshift translate", f"{ours:.2f}", "")
        theirs = deploy(least)
        if theirs is None:
            row("gcloud app deploy cron.yaml", "not measured: no gcloud here", "")
        else:
            ratio = against(ours / theirs, 0.4, least=False)
            row("gcloud app deploy cron.yaml, local API", f"{theirs:.2f}", ratio)
        used = peak(least)
        met = "met" if used < 60 else "MISSED"
        print(f"\nMemory at 250 entries: {used:.0f} MB (goal < 60 MB: {met})")

        heading("translate: growth")
        header("entries", "seconds", "milliseconds an entry", "MB")
        for size, folder in folders.items():
            seconds = median(lambda folder=folder: translate(folder), 3)
            row(
                f"{size:,}",
                f"{seconds:.2f}",
                f"{1000 * seconds / size:.2f}",
                f"{peak(folder):.0f}",
            )


if __name__ == "__main__":
    main()
