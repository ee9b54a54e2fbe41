"""What the commands on live jobs start from: the wanted jobs, and where they live.

The wanted jobs are what `translate` makes, with every option and setting of it; the
app's region is looked up before anything else is asked or written.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from migrate import inputs
from migrate.job import to_api
from migrate.livejob import url_of
from migrate.notes import Level
from migrate.plan import Scope
from migrate.problems import ApiError, wrong_region
from migrate.terminal import NO, end, fail, remark, show_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from migrate.appengine import App
    from migrate.job import Json
    from migrate.settings import Settings
    from migrate.sources import Sources
    from migrate.store import JobStore
    from migrate.translate import Translation


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the files ask for, translated, and where it is to live."""

    files: Sources
    settings: Settings
    translations: Sequence[Translation]
    urls: frozenset[str]
    app: App | None = None

    @property
    def project(self) -> str:
        """The project's id."""
        return str(self.settings.project)

    @property
    def parent(self) -> str:
        """The full name of the location."""
        return f"projects/{self.settings.project}/locations/{self.settings.location}"

    @property
    def legacy_parent(self) -> str:
        """The full name of the app's location, where gcloud's own jobs are."""
        location = self.settings.location if self.app is None else self.app.location
        return f"projects/{self.settings.project}/locations/{location}"

    @property
    def jobs(self) -> list[Json]:
        """The wanted jobs, all of the set."""
        return [to_api(job) for one in self.translations for job in one.jobs]

    def scope(
        self,
        *,
        paused: bool = False,
        max_deletes: int | None = None,
        moved_from: Sequence[str] = (),
    ) -> Scope:
        """Give what a plan for them is about.

        An entry that --only names is meant with the url that its jobs ask for, which
        as an HTTP target may have a path before it.
        """
        asked = {
            url_of(to_api(job))
            for one in self.translations
            for job in one.jobs
            if one.entry.url in self.urls
        }
        former = (f"projects/{self.project}/locations/{one}" for one in moved_from)
        return Scope(
            self.parent,
            self.settings.job_set,
            tuple(parent for parent in former if parent != self.parent),
            self.urls | asked if self.urls else frozenset(),
            paused,
            max_deletes,
        )


def now() -> datetime:
    """Give the machine's time."""
    return datetime.now(UTC)


@contextmanager
def api() -> Iterator[JobStore]:
    """Give the job store; what its API says no to ends the command."""
    from migrate.scheduler import connected  # noqa: PLC0415 - loads Google's clients

    with connected() as store:
        try:
            yield store
        except ApiError as problem:
            fail(str(problem))


def wanted(
    paths: tuple[Path, ...],
    at: datetime,
    form: str,
    chosen: dict[str, Any],
    *,
    strict: bool = True,
) -> Wanted:
    """Read, settle and translate; ends the command where that cannot be.

    A cron.yaml that is named brings its jobs.yaml along: what moved there is no
    deletion. Losses that nobody accepted and blocks end it with 1 if it is `strict`,
    all told.
    """
    files = inputs.read(paths, chosen["dispatch"], form, whole=True)
    settings, notes = inputs.settings(files, chosen, form)
    for told in notes:
        remark(told.text)
    if settings.project is None:
        fail("live jobs need --project, or CLOUDSDK_CORE_PROJECT")
    location, app = located(settings)
    settings = replace(settings, location=location)
    urls = frozenset(chosen.get("only") or ())
    translations = inputs.translations(files, settings, at)
    found = Wanted(files, settings, translations, urls, app)
    if app is not None:
        _check_app(found, app)
    if strict:
        _end_if_refused(found, form)
    return found


def located(settings: Settings) -> tuple[str, App | None]:
    """Give the location of the jobs, the one said or the app's, and the app.

    The app is looked up before all else; None where that cannot be, and a location is
    said.
    """
    from migrate.appengine import app_of  # noqa: PLC0415 - loads Google's clients

    try:
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(app_of, str(settings.project))
            import_module("migrate.scheduler")  # loads while the app is asked for
            app = asked.result()
    except ApiError as problem:
        if settings.location is None:
            fail(f"{problem}; or say where the jobs live: --location")
        remark(f"the app was not looked up: {problem}")
        return settings.location, None
    return settings.location or app.location, app


def _check_app(found: Wanted, app: App) -> None:
    """Hold jobs for App Engine to the app: its region, its services, its state."""
    targets = [
        job["appEngineHttpTarget"] for job in found.jobs if "appEngineHttpTarget" in job
    ]
    if not targets:
        return
    location = str(found.settings.location)
    if location != app.location:
        fail(wrong_region(found.project, location, app.location))
    if not app.serving:
        remark(f"the app of project {found.project} is disabled: it answers no request")
    named = {
        target.get("appEngineRouting", {}).get("service", "") for target in targets
    }
    for name in sorted(named - {"", *app.services}):
        remark(
            f"the app has no service {name!r}: App Engine sends what is for it to the "
            "default service; deploy it, or correct the target"
        )


def _end_if_refused(found: Wanted, form: str) -> None:
    refused = [
        (one, why)
        for one in found.translations
        if not found.urls or one.entry.url in found.urls
        for why in (*one.of_level(Level.BLOCK), *one.unaccepted)
    ]
    for one, why in refused:
        options = [why.fallback] if why.fallback else []
        if why.level is Level.LOSS:
            options.insert(0, f"--accept {why.code}")
        way = f" ({', or '.join(options)})" if options else ""
        remark(f"{why.place}: {one.entry.url}: {why.level} {why.code}: {why.text}{way}")
    if refused and form == "json":
        from migrate.report import translation  # noqa: PLC0415 - rich is slow to load

        told = [
            {"entry": translation.entry_json(one.entry), **translation.note_json(why)}
            for one, why in refused
        ]
        show_json({"changes": [], "refused": told})
    if refused:
        remark("nothing is done while a loss is not accepted or an entry is blocked")
        end(NO)
