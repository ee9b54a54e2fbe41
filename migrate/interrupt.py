"""Ctrl-C, or SIGTERM, while something is being changed: stop in good order, or at once.

A machine that ends a job (a cancelled CI run, say) sends SIGTERM, and waits a little.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from migrate.terminal import leave_at_once, remark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping(stop: Event, after: str) -> Iterator[None]:
    """Let a first signal set `stop`, for what is in flight to end; a second ends us.

    `after` is what is waited for, in words.
    """

    def on_signal(_number: int, _frame: object) -> None:
        if stop.is_set():
            leave_at_once(f"stopped; the {after} in flight may be done or not")
        stop.set()
        remark(f"stopping after the {after} in flight; Ctrl-C again stops at once")

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
