"""Single steps on the job store, where something comes between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from cronspec.naming import PAUSED_HEADER
from emulator.app import App
from emulator.clock import VirtualClock
from emulator.faults import Cut, Fail, Fault, When
from emulator.world import World
from migrate import staging
from migrate.cutover.carry import Carrier
from migrate.cutover.files import BackupFile
from migrate.cutover.observe import View, view
from migrate.cutover.observe import World as Asked
from migrate.cutover.onward import onward
from migrate.cutover.seen import Do, Mend, Remove, Stage, Swap
from migrate.job import to_api
from migrate.legacy import form_of
from migrate.normal import with_headers
from migrate.problems import ApiError, Lost, Refused
from tests.migrate.cutover.test_decisions import NOW, PARENT, translated
from tests.migrate.live.world import WorldApi, store_of

if TYPE_CHECKING:
    from pathlib import Path

CRON = """\
cron:
- url: /t
  description: ours
  target: worker
  schedule: every day 09:00
  retry_parameters: {job_retry_limit: 2}
"""


class Desk:
    """An entry with its legacy job and ours, held, and what does steps on them."""

    def __init__(self, folder: Path) -> None:
        self.one = translated(CRON)
        self.world = World(app=App("shop", "europe-west"), clock=VirtualClock(NOW))
        self.api = WorldApi(self.world)
        self.store = store_of(self.api)
        self.asked = Asked(PARENT, "default", [self.one], {}, NOW)
        self.api.create(PARENT, self.asked.legacy[self.one.key], legacy=True)
        self.job = to_api(self.one.jobs[0])
        staging.create_paused(self.store, self.job, NOW)
        self.kept = BackupFile(folder / "backup.jsonl")
        self.carrier = Carrier(self.store, PARENT, self.kept, lambda: NOW)

    def look(self) -> View:
        live = list(self.store.jobs(PARENT))
        legacy = list(self.store.legacy_jobs(PARENT))
        return view(self.asked, live, legacy, self.kept.saved)

    def swap(self) -> Swap:
        (entry,) = self.look().entries
        assert entry.legacy is not None
        return Swap(entry.legacy, (self.job,))

    def change(self, **fields: Any) -> None:
        job = {**self.api.get(self.job["name"]), **fields}
        self.api.update(job, list(fields))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_our_paused_job_is_made_as_the_file_has_it_and_stays_ours_to_resume(
    desk: Desk,
) -> None:
    desk.change(description="another")
    (entry,) = desk.look().entries
    found = onward(entry, NOW)
    assert isinstance(found, Do)
    assert isinstance(found.step, Mend)
    desk.carrier.carry_out(found.step)
    (entry,) = desk.look().entries
    assert entry.ours[0].stage is Stage.HELD
    assert entry.ours[0].change is None


def changed(desk: Desk) -> None:
    desk.change(schedule="1 1 * * *")


def unmarked(desk: Desk) -> None:
    job = with_headers(desk.api.get(desk.job["name"]), {PAUSED_HEADER: None})
    desk.change(appEngineHttpTarget=job["appEngineHttpTarget"])


@pytest.mark.parametrize("meanwhile", [changed, unmarked])
def test_if_our_job_was_touched_meanwhile_the_legacy_job_is_made_again(
    desk: Desk, meanwhile: Any
) -> None:
    step = desk.swap()
    meanwhile(desk)
    with pytest.raises(Refused, match="resume"):
        desk.carrier.carry_out(step)
    (again,) = desk.store.legacy_jobs(PARENT)
    assert form_of(again.resource) == form_of(step.legacy.resource)
    routing = again.resource["appEngineHttpTarget"]["appEngineRouting"]
    assert routing["service"] == "worker"
    assert desk.api.get(desk.job["name"])["state"] == "PAUSED"


def test_a_deletion_that_was_carried_out_without_an_answer_goes_on(desk: Desk) -> None:
    step = desk.swap()
    tries = desk.store.patience.tries
    cut = Fault(Cut(), When.AFTER, method="DELETE", times=1)
    desk.world.faults.add(cut)
    desk.world.faults.add(replace(cut, when=When.BEFORE, skip=1, times=tries - 1))
    desk.carrier.carry_out(step)
    assert list(desk.store.legacy_jobs(PARENT)) == []
    assert desk.api.get(desk.job["name"])["state"] == "ENABLED"


def test_a_deletion_that_was_not_carried_out_leaves_ours_paused(desk: Desk) -> None:
    step = desk.swap()
    desk.world.faults.add(Fault(Cut(), method="DELETE", times=None))
    with pytest.raises(Lost):
        desk.carrier.carry_out(step)
    assert len(list(desk.store.legacy_jobs(PARENT))) == 1
    assert desk.api.get(desk.job["name"])["state"] == "PAUSED"


def test_a_legacy_job_is_in_the_backup_before_it_is_deleted(desk: Desk) -> None:
    step = desk.swap()
    desk.world.faults.add(Fault(Fail(400), method="DELETE"))
    with pytest.raises(ApiError):
        desk.carrier.carry_out(Remove(step.legacy))
    assert desk.kept.saved.has(step.legacy)
    desk.carrier.carry_out(Remove(step.legacy))
    assert len(desk.kept.path.read_text().splitlines()) == 1
