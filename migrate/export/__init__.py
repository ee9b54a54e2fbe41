"""Jobs in the languages of other tools. Each exporter is a pure function to text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from migrate.job import Job

EXPORTS: Final[dict[str, Callable[[Sequence[Job]], str]]] = {}
