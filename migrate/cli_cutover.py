"""The commands of the move itself: cutover and rollback."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final

import click

from migrate import live_options, options
from migrate.cutover.back import back
from migrate.cutover.backup import NAME
from migrate.cutover.carry import Carrier
from migrate.cutover.files import BackupFile, listings, write
from migrate.cutover.lists import JOBS, ListsError
from migrate.cutover.observe import View, view
from migrate.cutover.onward import onward
from migrate.cutover.parting import Direction, parted
from migrate.cutover.run import Ended, Run, Told
from migrate.cutover.seen import Do, Done, Moving, Wait
from migrate.cutover.start import world_of
from migrate.interrupt import stopping
from migrate.prepare import Wanted, api, now, wanted
from migrate.report import moves
from migrate.terminal import DONE, NO, confirm, end, fail, remark, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from migrate.cutover.seen import Next
    from migrate.store import JobStore


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take what both commands take."""
    for decorate in reversed(
        (
            options.paths,
            options.choices,
            live_options.only,
            live_options.yes,
            click.option(
                "--wait",
                type=click.IntRange(0),
                default=10,
                show_default=True,
                metavar="MINUTES",
                help="Wait for what comes within this time: quiet moments, first runs.",
            ),
            click.option(
                "--host",
                "hosts_at",
                multiple=True,
                metavar="[SERVICE=]URL",
                help="Where a service's host answers /healthz (default: at the app's "
                "own address).",
            ),
            click.option(
                "--backup",
                type=click.Path(path_type=Path, dir_okay=False),
                metavar="FILE",
                help=f"Where legacy jobs are saved (default: {NAME} beside cron.yaml).",
            ),
            options.form,
        )
    ):
        command = decorate(command)
    return command


@click.command("cutover")
@_options
def cutover_command(**chosen: Any) -> None:
    """Move cron.yaml's entries over to Cloud Scheduler, one by one.

    PATH is one folder or cron file. Each step is shown; run again, it goes on from
    what is there. Legacy jobs are saved before the first is deleted. At the end
    jobs.yaml has what is moved, and cron.yaml what is not. Exits 1 while an entry is
    left.
    """
    end(_Command(Direction.ONWARD, onward, chosen).run())


@click.command("rollback")
@_options
def rollback_command(**chosen: Any) -> None:
    """Bring the legacy jobs back, and pause ours: a cut-over in reverse.

    Goes on from wherever a cutover or rollback ended. Exits 1 while an entry is left.
    """
    end(_Command(Direction.BACK, back, chosen).run())


@dataclass(frozen=True, slots=True)
class _Command:
    """One of the two at work."""

    direction: Direction
    decide: Callable[[Moving, datetime], Next]
    chosen: dict[str, Any]

    @property
    def text(self) -> bool:
        return bool(self.chosen["form"] == "text")

    def run(self) -> int:
        paths = self.chosen["paths"]
        if len(paths) != 1:
            fail("name one folder, or one cron file: its lists are written anew")
        asked = wanted(
            paths,
            now(),
            self.chosen["form"],
            self.chosen,
            strict=self.direction is Direction.ONWARD,
        )
        urls = {one.entry.url for one in asked.translations}
        if unknown := sorted(asked.urls - urls):
            fail(f"--only {unknown[0]}: no entry has that url")
        cron = _cron_path(asked)
        kept = BackupFile(self.chosen["backup"] or cron.with_name(NAME))
        try:
            with api() as store:
                return self._move(asked, store, kept)
        except OSError as error:
            fail(f"{error.filename or kept.path}: {error.strerror}")
        except UnicodeDecodeError:
            fail(f"{kept.path}: this is no backup, nor any text in UTF-8")

    def _move(self, asked: Wanted, store: JobStore, kept: BackupFile) -> int:
        world = world_of(asked, dict(map(_host, self.chosen["hosts_at"])), now())
        if kept.saved.broken:
            remark(f"{kept.path}: {kept.saved.broken} broken lines are passed over")

        def look() -> View:
            live = list(store.jobs(world.parent))
            legacy = list(store.legacy_jobs(asked.legacy_parent))
            return view(world, live, legacy, kept.saved)

        first = look()
        found = {one.key: self.decide(one, now()) for one in first.entries}
        if self.text:
            ways = self.direction is Direction.ONWARD
            show(moves.standing(first, found, ways=ways))
        if not all(isinstance(one, Done) for one in found.values()):
            if not self.chosen["yes"]:
                confirm("Go on?")
            kept.keep(store.legacy_jobs(asked.legacy_parent), now())
        steps, ended = self._go(store, kept, look, asked.legacy_parent)
        written = self._write(asked, ended)
        complete = all(isinstance(one, Done) for one in ended.next.values())
        if self.direction is Direction.BACK:
            complete = complete and not ended.view.orphans
        self._tell(ended, steps, written, kept, complete=complete)
        return DONE if complete and not ended.stopped else NO

    def _go(
        self,
        store: JobStore,
        kept: BackupFile,
        look: Callable[[], View],
        parent: str,
    ) -> tuple[list[Told], Ended]:
        steps: list[Told] = []

        def told(one: Told) -> None:
            steps.append(one)
            if self.text:
                show([moves.told_text(one)])

        def begins(one: Moving, do: Do) -> None:
            if self.text:
                show([moves.begins_text(one, do)])

        def waiting(wait: Wait, one: Moving) -> None:
            if self.text:
                show([moves.wait_text(wait, one)])

        stop = Event()
        with stopping(stop, "step"):
            run = Run(
                look=look,
                decide=self.decide,
                carrier=Carrier(store, parent, kept, now),
                now=now,
                begins=begins,
                told=told,
                waiting=waiting,
                sleep_until=lambda at: not stop.wait((at - now()).total_seconds()),
                stopping=stop.is_set,
                patience=timedelta(minutes=self.chosen["wait"]),
            )
            return steps, run.go()

    def _write(self, asked: Wanted, ended: Ended) -> list[str]:
        """Write both lists anew as far as the entries are gone."""
        back = self.direction is Direction.BACK
        moved = {
            one.key
            for one in ended.view.entries
            if isinstance(ended.next[one.key], Done)
            # gcloud would make a firing job of one that was paused before the move.
            and not (back and one.legacy is None)
        }
        both = listings(_cron_path(asked))
        try:
            new = parted(self.direction, asked.translations, moved, *both)
        except ListsError as error:
            remark(f"cronshift: {error}")
            return []
        for listing in new:
            write(listing, Path(listing.name))
        return [listing.name for listing in new]

    def _tell(
        self,
        ended: Ended,
        steps: list[Told],
        written: list[str],
        kept: BackupFile,
        *,
        complete: bool,
    ) -> None:
        if not self.text:
            document = moves.ended_json(ended, steps) | {
                "written": written,
                "backup": str(kept.path),
                "complete": complete,
            }
            show_json(document)
            return
        if steps:
            show(moves.standing(ended.view, ended.next, ways=False))
        show([moves.summary(ended.next, word=self.direction.value)])
        if written:
            remark(f"written: {', '.join(written)}")
            remark(_TO_DO[self.direction])
        if ended.stopped:
            remark("stopped; run it again to go on, or the other one to go back")


_TO_DO: Final = {
    Direction.ONWARD: (
        "Commit both, and deploy the host with both (gcloud app deploy app.yaml). "
        "From now on deploy no other cron.yaml than this one: an older copy brings "
        "the legacy jobs back, and every run would be asked for twice."
    ),
    Direction.BACK: (
        "Commit both, and deploy the host with both. gcloud app deploy cron.yaml "
        "finds nothing to change then."
    ),
}


# --- Small things -------------------------------------------------------------------


def _cron_path(asked: Wanted) -> Path:
    """Give the path of cron.yaml, which may be gone where all is moved."""
    first = Path(asked.files.crons[0].file)
    return first.with_name("cron.yaml") if first.name == JOBS else first


def _host(text: str) -> tuple[str, str]:
    name, equals, url = text.partition("=")
    if not equals or "/" in name:
        name, url = "", text
    if not url.startswith(("http://", "https://")):
        raise click.BadParameter(f"{text!r} is not [SERVICE=]URL", param_hint="--host")
    return name, url.rstrip("/")


COMMANDS: Final = {"cutover": cutover_command, "rollback": rollback_command}
