"""The same jobs in the words of other tools. Each export is pure: jobs in, text out.

`EXPORTS` names them as `translate --format` does; only Terraform has more to choose
(`terraform.hcl(jobs, import_blocks=True)`). All raise `text.ExportError`, a ValueError
whose message names every value that the format cannot hold, one a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from migrate.export.gcloud import script
from migrate.export.krm import manifests
from migrate.export.terraform import hcl
from migrate.export.text import ExportError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from migrate.job import Job

__all__ = ["EXPORTS", "ExportError", "hcl"]

EXPORTS: Final[dict[str, Callable[[Sequence[Job]], str]]] = {
    "gcloud": script,
    "terraform": hcl,
    "krm": manifests,
}
