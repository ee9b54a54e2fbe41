"""Entries without a task, and tasks without an entry, by the code that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cronspec.config import load_cron, load_dispatch
from migrate import evidence_files
from migrate.audit import Evidence, examine
from migrate.audit.taskfile import TaskFile
from migrate.sources import SourceError
from tests.migrate.audit.conftest import NOW

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
tasks = Tasks()

@tasks.task("/t/a")
@tasks.task("/t/b?x=1", overlap="skip")
def work(run): ...

tasks.proxy("/t/c", WorkflowsExecution("w"))
other("/t/not")
tasks.task(name)
"""
CRON = """\
cron:
- {url: /t/a, schedule: every day 09:00}
- {url: "/t/b?x=1", schedule: every day 09:00}
- {url: /t/c, schedule: every day 09:00}
- {url: /t/d, schedule: every day 09:00}
- {url: /t/e, schedule: every day 09:00, target: worker}
- {url: /t/f, schedule: every day 09:00, target: worker}
"""
TO_DEFAULT = 'dispatch: [{url: "*/t/f", service: default}]'


def told(*tasks: TaskFile) -> list[tuple[str, str, int]]:
    evidence = Evidence(
        now=NOW,
        crons=(load_cron(CRON, "cron.yaml"),),
        dispatch=load_dispatch(TO_DEFAULT, "dispatch.yaml"),
        tasks=tasks,
    )
    codes = {"entry-without-task", "task-without-entry"}
    return [
        (found.code, found.place.file, found.place.line)
        for found in examine(evidence).findings
        if found.code in codes
    ]


def test_without_code_nothing_is_said_of_tasks() -> None:
    assert told() == []


def test_entries_that_reach_the_service_want_a_task_there() -> None:
    assert told(TaskFile.of("default", "main.py", CODE)) == [
        ("entry-without-task", "cron.yaml", 5),
        ("entry-without-task", "cron.yaml", 7),
    ]


def test_a_task_that_no_entry_reaches_is_told_where_it_is_declared() -> None:
    worker = TaskFile.of("worker", "worker.py", '@tasks.task("/t/e")\ndef e(r): ...')
    unasked = TaskFile.of("worker", "old.py", '\n@t.task("/t/a")\ndef a(r): ...')
    assert told(worker) == []
    assert ("task-without-entry", "old.py", 2) in told(unasked)


def test_urls_are_compared_as_the_host_compares_them() -> None:
    code = CODE + 'tasks.task("/t/%64")\ntasks.task("/t/f#top")\n'
    assert told(TaskFile.of("default", "main.py", code)) == []


def test_the_file_of_a_service_is_read_and_what_cannot_be_is_said(
    tmp_path: Path,
) -> None:
    good, bad = tmp_path / "main.py", tmp_path / "bad.py"
    good.write_text(CODE)
    bad.write_text("def (:")
    assert evidence_files.read_tasks(f"worker={good}").service == "worker"
    assert evidence_files.read_tasks(str(good)).service == "default"
    with pytest.raises(SourceError, match="no Python"):
        evidence_files.read_tasks(str(bad))
    with pytest.raises(SourceError, match="cannot be read"):
        evidence_files.read_tasks(str(tmp_path / "none.py"))
