"""Ctrl-C while something is being changed: stop in good order, or at once."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from migrate.terminal import remark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event


@contextmanager
def stopping(stop: Event, after: str) -> Iterator[None]:
    """Let a first Ctrl-C set `stop`, for what is in flight to end; a second raises.

    `after` is what is waited for, in words.
    """

    def on_signal(_number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        remark(f"stopping after the {after} in flight; Ctrl-C again stops at once")

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
