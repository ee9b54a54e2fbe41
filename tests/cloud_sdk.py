"""Google's own groc parser, where the Cloud SDK's app-engine-python is installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_CRON = "platform/google_appengine/google/appengine/cron"


def cloud_sdk() -> Path | None:
    """Give the folder of a Cloud SDK that has the parser, None where there is none."""
    for root in (
        Path(os.environ.get("CLOUDSDK_ROOT_DIR", "/usr/lib/google-cloud-sdk")),
        Path(shutil.which("gcloud") or "gcloud").resolve().parent.parent,
    ):
        if (root / _CRON).is_dir():
            return root
    return None


def link_groc(sdk: Path, library: Path) -> None:
    """Make the parser importable from `library`, as `google_cron`, with its needs."""
    for name in ("antlr3", "pytz", "six"):
        (library / name).symlink_to(sdk / "lib/third_party" / name)
    (library / "google_cron").symlink_to(sdk / _CRON)
