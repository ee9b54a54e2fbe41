"""The loop of a move: look, decide, show, do, look again, until nothing is left to do.

All entries are looked at together and taken in turn. A step whose moment matters is
decided anew on a fresh look right before it is done, and the entry is stayed with until
it has no further step: what takes two calls has them one after the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from migrate.cutover.seen import TIMED, Do, Stop, Wait
from migrate.problems import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from migrate.cutover.carry import Carrier
    from migrate.cutover.observe import View
    from migrate.cutover.seen import Moving, Next, Step

MOST_STEPS: Final = 12
"""An entry needs five; one that needs more is being worked on by somebody else too."""


@dataclass(frozen=True, slots=True)
class Told:
    """A step of an entry that was done, or why it was not."""

    entry: Moving
    step: Step
    problem: ApiError | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run left the entries: what would be next for each."""

    view: View
    next: dict[str, Next]
    failed: dict[str, ApiError]
    stopped: bool = False


@dataclass(slots=True)
class Run:
    """One run; `begins` is called before each step, `told` after it.

    `sleep_until` gives False where it was told to stop meanwhile.
    """

    look: Callable[[], View]
    decide: Callable[[Moving, datetime], Next]
    carrier: Carrier
    now: Callable[[], datetime]
    begins: Callable[[Moving, Do], None]
    told: Callable[[Told], None]
    waiting: Callable[[Wait, Moving], None]
    sleep_until: Callable[[datetime], bool]
    stopping: Callable[[], bool]
    patience: timedelta
    _failed: dict[str, ApiError] = field(default_factory=dict)
    _steps: Counter[str] = field(default_factory=Counter)
    _hopeless: bool = False

    def go(self) -> Ended:
        """Go as far as can be gone now. Raises ApiError where nothing can be seen."""
        until = self.now() + self.patience
        while True:
            view = self.look()
            if self._over:
                return self._ended(view, stopped=self.stopping())
            todo = [one for one in view.entries if self._has_step(one)]
            if todo:
                self._pass(todo)
            elif not self._wait(view, until):
                return self._ended(view, stopped=self.stopping())

    def _has_step(self, one: Moving) -> bool:
        return one.key not in self._failed and isinstance(
            self.decide(one, self.now()), Do
        )

    def _pass(self, todo: list[Moving]) -> None:
        """Do a step of each of these entries, and at once what must follow on it."""
        for one in todo:
            chosen = self.decide(one, self.now())
            if isinstance(chosen, Do) and not isinstance(chosen.step, TIMED):
                self._do(one, chosen)
                continue
            while not self._over and one.key not in self._failed:
                fresh = self.look().of(one.key)
                chosen = self.decide(fresh, self.now())
                if not isinstance(chosen, Do):
                    break
                self._do(fresh, chosen)

    @property
    def _over(self) -> bool:
        return self.stopping() or self._hopeless

    def _do(self, one: Moving, chosen: Do) -> None:
        if self._over:
            return
        self.begins(one, chosen)
        self._steps[one.key] += 1
        problem: ApiError | None = None
        if self._steps[one.key] > MOST_STEPS:
            problem = ApiError("it changes while it is worked on: is somebody else?")
        else:
            try:
                self.carrier.carry_out(chosen.step)
            except ApiError as met:
                problem = met
        if problem is not None:
            self._failed[one.key] = problem
            self._hopeless = problem.hopeless
        self.told(Told(one, chosen.step, problem))

    def _wait(self, view: View, until: datetime) -> bool:
        """Wait for the first moment in which there may be a step, if it is near."""
        waits = [
            (chosen.until, one.key, chosen)
            for one in view.entries
            if one.key not in self._failed
            and isinstance(chosen := self.decide(one, self.now()), Wait)
        ]
        if not waits:
            return any(self._has_step(one) for one in view.entries)
        at, key, first = min(waits, key=lambda wait: wait[:2])
        if at > until:
            return False
        self.waiting(first, view.of(key))
        return self.sleep_until(at)

    def _ended(self, view: View, *, stopped: bool) -> Ended:
        found = {one.key: self.decide(one, self.now()) for one in view.entries}
        for key, problem in self._failed.items():
            found[key] = Stop(str(problem))
        return Ended(view, found, self._failed, stopped)
