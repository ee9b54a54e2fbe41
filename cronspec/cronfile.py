"""cron.yaml: its entries, and everything that is wrong with them.

As strict as gcloud's loader (croninfo.py and app_deploy_migration_util.py,
ValidateCronYamlFileConfig), and beyond it where the server would refuse what gcloud
lets pass: schedules, time zones, and urls that are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cronspec.entryvalues import (
    read_deadline,
    read_description,
    read_schedule,
    read_target,
    read_timezone,
    read_url,
)
from cronspec.faults import Place, Report
from cronspec.fields import (
    is_null,
    kind,
    missing,
    near,
    read_application,
    read_fields,
    shown,
)
from cronspec.nodes import Broken, Mapping, Scalar, Sequence
from cronspec.retryblock import read_retry
from cronspec.tree import read
from cronspec.vocabulary import CRON_TOP, ENTRY

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict
    from datetime import timedelta

    from cronspec.faults import Fault, Remark
    from cronspec.fields import Field
    from cronspec.kinds import GrocSchedule
    from cronspec.nodes import Node
    from cronspec.retry import RetryParameters


@dataclass(frozen=True, slots=True)
class CronEntry:
    """One entry of cron.yaml.

    `timezone` is the text as written, None where the file gives none (UTC);
    `place` is that of the entry's dash, `places` those of its values, by key
    (`retry_parameters.job_retry_limit` for those within the block).
    """

    url: str
    schedule: GrocSchedule
    schedule_text: str
    timezone: str | None
    target: str | None
    description: str | None
    retry: RetryParameters | None
    attempt_deadline: timedelta | None
    place: Place
    places: Dict[str, Place]

    def place_of(self, *keys: str) -> Place:
        """Give the place of the first of these values that it has, or its own."""
        known = (self.places[key] for key in keys if key in self.places)
        return next(known, self.place)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an entry wants its requests, known even if the entry has faults."""

    url: str
    target: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class CronFile:
    """What a cron.yaml says: the entries without faults, and every fault."""

    file: str
    entries: tuple[CronEntry, ...]
    destinations: tuple[Destination, ...]
    faults: tuple[Fault, ...]
    remarks: tuple[Remark, ...]


def load_cron(text: str, file: str) -> CronFile:
    """Read a cron.yaml. Never raises for what the text says: see `faults`."""
    reader = _Reader(file)
    reader.read(text)
    return CronFile(
        file,
        tuple(reader.entries),
        tuple(reader.destinations),
        reader.report.faults(),
        reader.report.remarks(),
    )


class _Reader:
    """Reads one file: its tree first, then the entries one by one."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.report = Report()
        self.entries: list[CronEntry] = []
        self.destinations: list[Destination] = []

    def read(self, text: str) -> None:
        start = Place(self.file, 1, 1)
        if re.match(r"\ufeff?\s*<(?:\?xml|cronentries|!--)", text):
            self.report.fault(
                "xml",
                start,
                "this is Java's cron.xml, not a cron.yaml",
                "write each <cron> as an entry under 'cron:': <url>, <description>, "
                "<schedule>, <timezone> and <target> keep their names, "
                "<retry-parameters> becomes retry_parameters, and its parts get '_' "
                "for '-'",
            )
            return
        tree = read(text, self.file, self.report)
        if tree.documents:
            self._top(tree.documents[0])
        elif tree.complete:
            self.report.fault(
                "empty-file",
                start,
                "the file has nothing in it",
                "to delete all jobs say so by the one line 'cron:'",
            )

    def _top(self, top: Node) -> None:
        match top:
            case Broken():
                return
            case Mapping():
                self._mapping(top)
            case Sequence(items=[]) if top.complete:
                self._deletes_all(top.place)
            case Scalar() if top.value is None:
                self._deletes_all(replace(top.place, line=1, column=1))
            case Sequence() if any(_like_entry(item) for item, _ in top.items):
                self._not_cron(
                    top.place,
                    "the top level is a list of entries",
                    "put the line 'cron:' before it",
                )
                self._list(top)
            case _:
                what = shown(top.text) if isinstance(top, Scalar) else "a list"
                self._not_cron(top.place, f"its top level is {what}, no 'cron:'")

    def _not_cron(self, place: Place, why: str, fix: str = "") -> None:
        fix = fix or "a cron.yaml has the one key 'cron:' and a list of entries below"
        self.report.fault("not-a-cron-file", place, f"not a cron file: {why}", fix)

    def _deletes_all(self, place: Place) -> None:
        self.report.remark(
            "deletes-all",
            place,
            "the file has no entries: deploying it deletes all cron jobs of the app",
        )

    def _mapping(self, top: Mapping) -> None:
        names = [key.text for key, _ in top.pairs if isinstance(key, Scalar)]
        top_keys = CRON_TOP.keys
        known = any(name in top_keys or near(name, ["cron"]) for name in names[:20])
        if names and not known and top.complete:
            got = ", ".join(shown(name) for name in names[:5])
            entry = "url" in names or "schedule" in names
            self._not_cron(
                top.place,
                f"its top-level keys must be 'cron' (and the old 'application'), "
                f"got {got}",
                "put the entries, as a list, below 'cron:'" if entry else _kind(names),
            )
            return
        fields = read_fields(top, CRON_TOP, self.report)
        read_application(fields, self.report)
        cron = fields.get("cron")
        if cron is None:
            if top.complete and not self.report.count:
                self._deletes_all(top.place)
            return
        self._cron(cron)

    def _cron(self, cron: Field) -> None:
        match cron.node:
            case Broken():
                return
            case Sequence() as entries:
                if not entries.items and entries.complete:
                    self._deletes_all(cron.key_place)
                self._list(entries)
            case node if is_null(node):
                self._deletes_all(cron.key_place)
            case node:
                self.report.fault(
                    "wrong-type",
                    cron.place,
                    f"'cron' must hold a list of entries, not {kind(node)}",
                    "start each entry with '- '",
                )

    def _list(self, entries: Sequence) -> None:
        for node, dash in entries.items:
            if self.report.full:
                return  # fixes are costly to find, and nobody would see them
            if isinstance(node, Mapping):
                self._entry(node, dash)
            elif not isinstance(node, Broken):
                self.report.fault(
                    "wrong-type",
                    node.place,
                    f"an entry must hold keys and values, not {kind(node)}",
                    "remove the dash, or give it 'url:' and 'schedule:'",
                )

    def _entry(self, node: Mapping, dash: Place) -> None:
        report = self.report
        before = report.count
        fields = read_fields(node, ENTRY, report)
        missing(node, dash, ("url", "schedule"), fields, report)
        given = {key: one for key, one in fields.items() if not is_null(one.node)}
        places = {key: one.place for key, one in given.items()}
        url = read_url(given.get("url"), report)
        schedule = read_schedule(given.get("schedule"), report)
        timezone = read_timezone(given.get("timezone"), report)
        target = read_target(given.get("target"), report)
        description = read_description(given.get("description"), report)
        deadline = read_deadline(given.get("attempt_deadline"), report)
        retry = None
        if "retry_parameters" in fields:
            retry = read_retry(fields["retry_parameters"], places, report)
        if url is None:
            return
        self.destinations.append(Destination(url, target, dash))
        if schedule is None or report.count > before or not node.complete:
            return
        self.entries.append(
            CronEntry(
                url=url,
                schedule=schedule[0],
                schedule_text=schedule[1],
                timezone=timezone,
                target=target,
                description=description,
                retry=retry,
                attempt_deadline=deadline,
                place=dash,
                places=places,
            )
        )


def _like_entry(node: Node) -> bool:
    return isinstance(node, Mapping) and any(
        isinstance(key, Scalar) and key.text in {"url", "schedule"}
        for key, _ in node.pairs
    )


def _kind(names: list[str]) -> str:
    """Say what else a file with these top-level keys may be."""
    kinds = {
        "dispatch": "this is a dispatch.yaml",
        "queue": "this is a queue.yaml",
        "indexes": "this is an index.yaml",
        "runtime": "this is an app.yaml",
        "handlers": "this is an app.yaml",
        "apiVersion": "this is a Kubernetes file",
    }
    return next((kinds[name] for name in names if name in kinds), "")
