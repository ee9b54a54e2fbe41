"""The tasks: which function does the work of which url of cron.yaml.

tasks = Tasks()

@tasks.task("/tasks/summary")
def send_summary(run: Run) -> None:
    mailer.send(summary(), idempotency_key=str(run.id))
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, Protocol

from cronspec.naming import comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from handlers.record import RunId


@dataclass(frozen=True, slots=True)
class Run:
    """What a task is told of its run.

    `id` is the same for all attempts at the run, so it is the idempotency token for
    whatever the task calls; `attempt` grows with each, so it fences late writers
    off. `scheduled_at` is the tick in UTC (of an interval: the minute of the run's
    first attempt). After `deadline` nobody waits for the answer any more: a task
    that takes long calls `check` between its steps, and lets it raise.
    """

    id: RunId
    url: str
    entry: str
    scheduled_at: datetime
    attempt: int
    deadline: datetime
    check: Callable[[], None]


class Overlap(Enum):
    """What a tick does while an earlier run of its entry is still at work."""

    ALLOW = "allow"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Task:
    """One task: what it does, and whether two ticks of it may overlap."""

    url: str
    function: Callable[[Run], object]
    overlap: Overlap = Overlap.ALLOW


OWN_PATHS: Final = (
    "/healthz",
    "/healthz/",
    "/_ah/warmup",
    "/_ah/start",
    "/_ah/stop",
)
"""What the host answers itself: no task can have these."""


class TaskError(ValueError):
    """A task that cannot be registered."""


_NEVER_RUN_BY_A_CALL: Final = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)


class Startable(Protocol):
    """Something behind an API that a run can start (`handlers.proxy`)."""

    def start(self, run: Run, /) -> object:
        """Start it once for this run, or find that it was started."""


class Tasks:
    """The tasks of a service, by url."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def task(
        self, url: str, *, overlap: Literal["allow", "skip"] = "allow"
    ) -> Callable[[Callable[[Run], object]], Callable[[Run], object]]:
        """Register the decorated function for `url`, as cron.yaml has it.

        The query belongs to it. Raises TaskError for a url that has a task, or that
        no entry can have.
        """

        def register(function: Callable[[Run], object]) -> Callable[[Run], object]:
            self.add(Task(url, function, _overlap(overlap)))
            return function

        return register

    def proxy(
        self,
        url: str,
        target: Startable,
        *,
        overlap: Literal["allow", "skip"] = "allow",
    ) -> None:
        """Register the start of something behind an API (`handlers.proxy`)."""
        self.add(Task(url, target.start, _overlap(overlap)))

    def add(self, task: Task) -> None:
        """Register a task. Raises TaskError."""
        if any(kind(task.function) for kind in _NEVER_RUN_BY_A_CALL):
            raise TaskError(
                f"task of {task.url!r}: an async function or a generator does nothing "
                "when it is called, and its run would count as done; give a plain "
                "function (which may say asyncio.run(...))"
            )
        if not task.url.startswith("/"):
            raise TaskError(
                f"task url {task.url!r}: begin it with '/', as in cron.yaml's url"
            )
        if is_own(task.url):
            raise TaskError(
                f"task url {task.url!r}: the host itself answers there; give the task "
                "another url"
            )
        key = comparable(task.url)
        if key in self._tasks:
            raise TaskError(
                f"task url {task.url!r} has a task already: one url, one task"
            )
        self._tasks[key] = task

    def at(self, url: str) -> Task | None:
        """Give the task of a url, if it has one."""
        return self._tasks.get(comparable(url))

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())


def is_own(url: str) -> bool:
    """Tell whether the host itself answers a url."""
    return comparable(url).partition("?")[0] in OWN_PATHS


def _overlap(text: str) -> Overlap:
    try:
        return Overlap(text)
    except ValueError:
        raise TaskError(f"overlap={text!r}: say 'allow' or 'skip'") from None
