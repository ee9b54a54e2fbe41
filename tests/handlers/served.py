"""An application for gunicorn in tests: its tasks write down when they start and end.

SERVED_ENTRIES: how many urls, /t/0 and so on. SERVED_LOG: the file that each run adds
a line to, "start" or "end", with the run's id, its attempt and the process.
SERVED_SECONDS: how long a task works.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from handlers import Run, Tasks, create_app

if TYPE_CHECKING:
    from flask import Flask


def _note(what: str, run: Run) -> None:
    line = f"{what} {run.url} {run.id} {run.attempt} {os.getpid()}\n"
    file = os.open(os.environ["SERVED_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def work(run: Run) -> None:
    _note("start", run)
    time.sleep(float(os.environ.get("SERVED_SECONDS", "0")))
    _note("end", run)


def app() -> Flask:
    tasks = Tasks()
    for number in range(int(os.environ["SERVED_ENTRIES"])):
        tasks.task(f"/t/{number}")(work)
    return create_app(tasks=tasks)
