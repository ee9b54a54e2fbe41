"""Findings in scripts and workflows: what deploys cron.yaml, and would do so again."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from cronspec.config import Place
from migrate.audit.finding import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from migrate.audit.evidence import Evidence, SourceText
    from migrate.audit.finding import Finding

_EXTENSIONS: Final = frozenset(
    ".sh .bash .zsh .ps1 .bat .cmd .mk .gradle .kts .groovy".split()
)
_NAMES: Final = re.compile(
    r"(GNU)?[Mm]akefile|Jenkinsfile|Rakefile|[Jj]ustfile|Procfile|Fabfile|fabfile\.py|"
    r"tasks\.py|noxfile\.py|Dockerfile.*|package\.json|pom\.xml|"
    r"[Tt]askfile\.ya?ml|(.*[-_.])?cloudbuild.*\.(ya?ml|json)|.*pipelines?\.ya?ml|"
    r"\.travis\.ya?ml|\.gitlab-ci.*\.ya?ml|\.drone\.ya?ml|appveyor\.ya?ml|"
    r"(build|deploy|release)[^/]*"
)
_CI_FOLDERS: Final = frozenset(
    (".github", ".circleci", ".gitlab", ".buildkite", ".ci", ".azure", ".tekton")
)
_CI_EXTENSIONS: Final = frozenset((".yml", ".yaml", ".json"))

# The file, or what a shell makes it of: `*.yaml`.
_CRON: Final = r"(?<![\w.-])(?:cron|\*)\.ya?ml(?![\w.-])"
# What goes on with a command: its line, a continued line, the items of a YAML list.
_MORE: Final = r"(?:\\\r?\n|[^\n;&|#]|\n[ \t]*-\s(?![^\n]*:\s))"
_DEPLOYS: Final = (
    re.compile(rf"\bapp\b[\s\"',\[\]-]{{1,40}}deploy\b{_MORE}{{0,300}}?{_CRON}"),
    re.compile(rf"\bdeliverables:[^\n]{{0,300}}?{_CRON}"),
    re.compile(
        rf"\bdeliverables:[ \t]*[|>][-+]?\n(?:[ ]+[^\n:]*\n){{0,9}}?[ ]+{_CRON}"
    ),
    re.compile(r"\bappcfg(?:\.py|\.sh)?\b[^\n;&|]{0,300}?\bupdate_cron\b"),
    re.compile(r"\bappengine(?::d|D)eployCron\b"),
)
_WORD: Final = re.compile(r"(?:cron|\*)\.ya?ml|update_cron|eployCron")
_COMMENT_LINE: Final = re.compile(r"^[ \t]*(?:#|//|REM\b|::)[^\n]*", re.MULTILINE)


def is_script(file: str) -> bool:
    """Tell by its name whether a file is a script, or the description of a build."""
    path = PurePath(file)
    if path.suffix in _EXTENSIONS or _NAMES.fullmatch(path.name):
        return True
    return bool(_CI_FOLDERS & set(path.parts)) and path.suffix in _CI_EXTENSIONS


def check(evidence: Evidence) -> Iterator[Finding]:
    """Tell every command that deploys cron.yaml."""
    for source in evidence.sources:
        if is_script(source.file):
            yield from _deploys(source)


def _deploys(source: SourceText) -> Iterator[Finding]:
    if not _WORD.search(source.text):
        return
    # Comments go, their line ends stay: places remain.
    text = _COMMENT_LINE.sub("", source.text)
    starts = {found.start() for rule in _DEPLOYS for found in rule.finditer(text)}
    for start in sorted(starts):
        line_start = text.rfind("\n", 0, start) + 1
        yield told(
            "deploys-cron-yaml",
            Place(source.file, text.count("\n", 0, start) + 1, start - line_start + 1),
            "this deploys cron.yaml: after the move to Cloud Scheduler it would bring "
            "App Engine's own jobs back, beside the new ones",
            "take cron.yaml out of it when the entries move",
        )
