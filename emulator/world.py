"""Everything an emulator is, apart from its socket: a request comes in, a reply out."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from emulator import appengine
from emulator.api import SchedulerApi
from emulator.app import App
from emulator.clock import Clock, RealClock
from emulator.dispatch import Dispatch, Unsent
from emulator.errors import ApiError
from emulator.faults import Cut, Fail, Fault, Faults, Slow, When
from emulator.journal import NO_REPLY, Journal
from emulator.quota import Quota
from emulator.store import MemoryStore, Store
from emulator.wire import CutOff, Reply, Request

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True)
class World:
    """The project, its jobs, the time, and what goes wrong.

    >>> World(app=App("my-project", "europe-west")).app.domain
    'my-project.ew.r.appspot.com'
    """

    app: App = field(default_factory=App)
    store: Store = field(default_factory=MemoryStore)
    clock: Clock = field(default_factory=RealClock)
    dispatch: Dispatch = field(default_factory=Unsent)
    faults: Faults = field(default_factory=Faults)
    journal: Journal = field(default_factory=Journal)
    quota: Quota = field(default_factory=Quota)
    closing: Event = field(default_factory=Event)

    def reply(self, request: Request) -> Reply | CutOff:
        """Carry out a request, with what befalls it, and keep it in the journal."""
        number = self.journal.begin(request, self.clock.now())
        faults = self.faults.befalling(request)
        done = False
        reply = self._befall(faults, When.BEFORE)
        if reply is None:
            reply = self.answer(request)
            done = reply.status == 200
            reply = self._befall(faults, When.AFTER) or reply
        status = reply.status if isinstance(reply, Reply) else NO_REPLY
        self.journal.end(number, done=done, status=status)
        return reply

    def _befall(self, faults: Iterable[Fault], when: When) -> Reply | CutOff | None:
        """Let the troubles of one moment happen; give the reply that one makes."""
        for fault in faults:
            if fault.when is not when:
                continue
            match fault.trouble:
                case Slow(seconds):
                    self.closing.wait(seconds)
                case Cut():
                    return CutOff()
                case Fail() as fail:
                    return Reply(fail.status, fail.error().to_json())
        return None

    def answer(self, request: Request) -> Reply:
        """Carry out a request as the APIs would."""
        api = SchedulerApi(self.store, self.app, self.clock, self.dispatch)
        try:
            if request.path.startswith(("/v1/projects/", "/v1beta1/")):
                self.quota.spend(self.clock.now(), write=request.writes)
            found = api.answer(request)
            if found is None:
                found = appengine.answer(request, self.app)
        except ApiError as error:
            return Reply(error.status, error.to_json())
        if found is None:
            missing = ApiError("NOT_FOUND", f"Not found: {request.path}")
            return Reply(missing.status, missing.to_json())
        return Reply(200, found)
