from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from cronspec.config import load_app, load_cron, load_dispatch
from migrate.audit import Evidence, SourceText
from migrate.audit.taskfile import TaskFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def read(  # one keyword for each kind of file that an audit is given
    cron: str = "",
    dispatch: str = "",
    apps: Sequence[str] = (),
    services: Sequence[str] = (),
    project: str | None = "demo",
    sources: Mapping[str, str] | None = None,
    file: str = "cron.yaml",
    tasks: str = "",
) -> Evidence:
    found = [load_app(text, f"app{n}.yaml") for n, text in enumerate(apps)]
    texts = {file: cron, "dispatch.yaml": dispatch}
    return Evidence(
        now=NOW,
        crons=(load_cron(cron, file),) if cron else (),
        dispatch=load_dispatch(dispatch, "dispatch.yaml") if dispatch else None,
        apps=tuple(app for app in found if app is not None),
        services=frozenset(services),
        project=project,
        texts={name: text for name, text in texts.items() if text},
        sources=tuple(SourceText(*pair) for pair in (sources or {}).items()),
        tasks=(TaskFile.of("default", "tasks.py", tasks),) if tasks else (),
    )


@pytest.fixture
def evidence() -> Callable[..., Any]:
    return read
