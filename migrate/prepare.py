"""What the commands on live jobs start from: the wanted jobs, and where they live.

The wanted jobs are what `translate` makes, with every option and setting of it; the
app's region is looked up before anything else is asked or written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from migrate import inputs
from migrate.job import to_api
from migrate.livejob import url_of
from migrate.notes import Level
from migrate.plan import Scope
from migrate.problems import ApiError, wrong_region
from migrate.terminal import NO, end, fail, remark

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from migrate.livejob import Json
    from migrate.settings import Settings
    from migrate.sources import Sources
    from migrate.translate import Translation


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the files ask for, translated, and where it is to live."""

    files: Sources
    settings: Settings
    translations: Sequence[Translation]
    urls: frozenset[str]

    @property
    def project(self) -> str:
        """The project's id."""
        return str(self.settings.project)

    @property
    def parent(self) -> str:
        """The full name of the location."""
        return f"projects/{self.settings.project}/locations/{self.settings.location}"

    @property
    def jobs(self) -> list[Json]:
        """The wanted jobs, all of the set."""
        return [to_api(job) for one in self.translations for job in one.jobs]

    def scope(self, *, paused: bool = False, max_deletes: int | None = None) -> Scope:
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
        return Scope(
            self.parent,
            self.settings.job_set,
            self.urls | asked if self.urls else frozenset(),
            paused,
            max_deletes,
        )


def wanted(
    paths: tuple[Path, ...],
    now: datetime,
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
    settings = replace(settings, location=_location(settings))
    urls = frozenset(chosen.get("only") or ())
    found = Wanted(files, settings, inputs.translations(files, settings, now), urls)
    if strict:
        _end_if_refused(found)
    return found


def _location(settings: Settings) -> str:
    """Give the location of the jobs: the one said, or the app's.

    App Engine targets live in the app's region and nowhere else, so that is looked up
    first. Whether there are any is not known yet where every service has an url.
    """
    from migrate.appengine import app_of  # noqa: PLC0415 - loads Google's clients

    project, said = str(settings.project), settings.location
    try:
        app = app_of(project)
    except ApiError as problem:
        if said is None:
            fail(f"{problem}; or say where the jobs live: --location")
        remark(f"the app's region was not looked up: {problem}")
        return said
    if said is not None and said != app.location and not settings.services:
        fail(wrong_region(project, said, app.location))
    if not app.serving:
        remark(f"the app of project {project} is disabled: it answers no request")
    return said or app.location


def _end_if_refused(found: Wanted) -> None:
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
    if refused:
        remark("nothing is done while a loss is not accepted or an entry is blocked")
        end(NO)
