"""The files that a PATH names: cron.yaml, and what lies beside it.

A folder's cron.yaml and its jobs.yaml (what `cutover` moved, in cron.yaml's language)
are one list; an entry that stands in both counts once. Files are named in messages as
the user named them. App yamls further down are read by `appfiles`.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cronspec.config import (
    CronFile,
    DispatchFile,
    Fault,
    decode,
    load_cron,
    load_dispatch,
)
from cronspec.naming import identity
from migrate.settings import Settings
from migrate.settings_file import FILE_NAME, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cronspec.config import CronEntry, DispatchRule

_CRON_NAMES: Final = ("cron.yaml", "cron.yml")
JOBS_NAME: Final = "jobs.yaml"
_DISPATCH_NAMES: Final = ("dispatch.yaml", "dispatch.yml")
NO_DISPATCH: Final = "none"


class SourceError(Exception):
    """A PATH that cannot be used; the message says which and the way out."""


@dataclass(frozen=True, slots=True)
class Sources:
    """All that was read; `folders` are those among the paths.

    `doubles` says which entries stand in a cron.yaml and in its jobs.yaml too.
    """

    crons: tuple[CronFile, ...]
    dispatch: DispatchFile | None
    folders: tuple[Path, ...]
    doubles: tuple[str, ...] = ()

    @property
    def entries(self) -> list[CronEntry]:
        """The entries of all files, in order."""
        return [entry for cron in self.crons for entry in cron.entries]

    @property
    def emptied(self) -> list[CronFile]:
        """The files without entries, whose list has none elsewhere either."""
        full = {_parent(cron) for cron in self.crons if cron.entries}
        return [cron for cron in self.crons if _parent(cron) not in full]

    @property
    def rules(self) -> tuple[DispatchRule, ...]:
        """The dispatch rules that count."""
        return self.dispatch.rules if self.dispatch is not None else ()

    @property
    def faults(self) -> list[Fault]:
        """The faults of all files."""
        found = [fault for cron in self.crons for fault in cron.faults]
        return found + list(self.dispatch.faults if self.dispatch is not None else ())


def read(
    paths: Sequence[Path], dispatch: str | None = None, *, whole: bool = False
) -> Sources:
    """Read what `paths` name. `dispatch` is a file, "none", or None: beside cron.yaml.

    A file that is named twice is read once. With `whole`, a cron.yaml that is named
    brings its jobs.yaml along, and the other way round, as its folder would. Raises
    SourceError where a file is missing, unreadable or not the only one.
    """
    try:
        cron_paths = _each_once(
            found
            for path in paths
            for found in _with_jobs(_cron_path(path), path.is_dir() or whole)
        )
        dispatch_path = _dispatch_path(cron_paths, dispatch)
        folders = _each_once(path for path in paths if path.is_dir())
    except OSError as error:  # a name too long, a folder that may not be entered
        raise SourceError(f"{error.filename}: {error.strerror}") from None
    crons, doubles = _as_one_list([_read_cron(path) for path in cron_paths])
    return Sources(
        crons=tuple(crons),
        dispatch=None if dispatch_path is None else _read_dispatch(dispatch_path),
        folders=tuple(folders),
        doubles=tuple(doubles),
    )


def _with_jobs(path: Path, both: bool) -> list[Path]:  # noqa: FBT001 - said at the one call
    """Give both files of a list, whichever was named, or the one alone."""
    if not both:
        return [path]
    if path.name != JOBS_NAME:
        jobs = path.with_name(JOBS_NAME)
        return [path, jobs] if _is_there(jobs) else [path]
    beside = [path.with_name(name) for name in _CRON_NAMES]
    return [*(cron for cron in beside if _is_there(cron)), path]


def _as_one_list(crons: Iterable[CronFile]) -> tuple[list[CronFile], list[str]]:
    """Take from each jobs.yaml what stands in the cron.yaml before it as well."""
    listed: list[CronFile] = []
    doubles: list[str] = []
    for cron in crons:
        beside = [one for one in listed if _parent(one) == _parent(cron)]
        if Path(cron.file).name != JOBS_NAME or not beside:
            listed.append(cron)
            continue
        known = Counter(identity(entry) for one in beside for entry in one.entries)
        kept = []
        for entry in cron.entries:
            if known[identity(entry)]:
                known[identity(entry)] -= 1
                doubles.append(
                    f"{entry.place}: {entry.url} stands in {beside[0].file} too and "
                    "counts once: take it out of one of them"
                )
            else:
                kept.append(entry)
        listed.append(replace(cron, entries=tuple(kept)))
    return [_with_rest(cron, listed) for cron in listed], doubles


def _with_rest(cron: CronFile, all_files: list[CronFile]) -> CronFile:
    """Give a file without the remark that it is empty where its list is not."""
    if not any(one.entries for one in all_files if _parent(one) == _parent(cron)):
        return cron
    remarks = (one for one in cron.remarks if one.code != "deletes-all")
    return replace(cron, remarks=tuple(remarks))


def _parent(cron: CronFile) -> Path:
    """Give the folder of a cron file: what lies there is one list."""
    return Path(cron.file).parent


def _each_once(paths: Iterable[Path]) -> list[Path]:
    found: dict[str, Path] = {}
    for path in paths:
        found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def _is_there(path: Path) -> bool:
    """Tell whether there is such a name: a link to nowhere is no missing file."""
    return path.is_symlink() or path.exists()


def _cron_path(path: Path) -> Path:
    if not path.is_dir():
        if not _is_there(path):
            raise SourceError(f"{path}: no such file or folder")
        return path
    found = [path / name for name in _CRON_NAMES if _is_there(path / name)]
    if len(found) > 1:
        raise SourceError(
            f"{path}: both cron.yaml and cron.yml are there; name the one that counts"
        )
    if found:
        return found[0]
    if _is_there(path / JOBS_NAME):
        return path / JOBS_NAME  # all is moved, and cron.yaml was taken away
    for xml in (path / "cron.xml", path / "WEB-INF/cron.xml"):
        if xml.is_file():
            return xml  # its loader says how to convert it
    raise SourceError(
        f"{path}: no cron.yaml in this folder; name the one that has it, or the file"
    )


def _dispatch_path(crons: Sequence[Path], dispatch: str | None) -> Path | None:
    if dispatch == NO_DISPATCH:
        return None
    if dispatch is not None:
        if not _is_there(Path(dispatch)):
            raise SourceError(f"{dispatch}: no such file (--dispatch FILE or none)")
        return Path(dispatch)
    beside = _each_once(
        path.parent / name
        for path in crons
        for name in _DISPATCH_NAMES
        if _is_there(path.parent / name)
    )
    if len(beside) > 1:
        raise SourceError(
            f"{' and '.join(map(str, beside))}: an app has one dispatch.yaml; "
            "say which counts with --dispatch FILE (or none)"
        )
    return beside[0] if beside else None


def _read_cron(path: Path) -> CronFile:
    text = _read(path)
    if isinstance(text, Fault):
        return CronFile(str(path), (), (), (text,), ())
    return load_cron(text, str(path))


def _read_dispatch(path: Path) -> DispatchFile:
    text = _read(path)
    if isinstance(text, Fault):
        return DispatchFile(str(path), (), (text,), ())
    return load_dispatch(text, str(path))


def settings_beside(files: Sources) -> list[Path]:
    """Give the settings files that stand beside the cron files."""
    beside = (Path(cron.file).parent / FILE_NAME for cron in files.crons)
    return _each_once(path for path in beside if _is_there(path))


def read_settings(
    files: Sources, config: Path | None, env: str | None
) -> tuple[Settings, tuple[Fault, ...]]:
    """Read the settings that `config` names, or those beside cron.yaml.

    Raises SourceError where they are missing or not the only ones.
    """
    found = settings_beside(files) if config is None else [config]
    if len(found) > 1:
        names = " and ".join(map(str, found))
        raise SourceError(f"{names}: say which counts with --config FILE")
    if not found:
        if env is not None:
            raise SourceError(
                f"--env {env} needs a {FILE_NAME} beside cron.yaml, or --config FILE"
            )
        return Settings(), ()
    text = _read(found[0])
    if isinstance(text, Fault):
        return Settings(), (text,)
    return load_settings(text, str(found[0]), env)


def _read(path: Path) -> str | Fault:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from None
    return decode(data, str(path))
