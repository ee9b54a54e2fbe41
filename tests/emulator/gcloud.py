"""The installed gcloud, pointed at a running emulator and at nothing else.

`environment` is for anything that calls gcloud, an exported script too; `NEEDED` skips
a test, with its reason, where gcloud is absent.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from emulator.server import Running

NEEDED = pytest.mark.skipif(
    shutil.which("gcloud") is None, reason="gcloud (Google Cloud SDK) is not installed"
)

# Every API that the commands ask; without Storage's, `app deploy` waits two minutes
# for a name server to say what it says at once here: there is no such file.
_APIS = ("CLOUDSCHEDULER", "APPENGINE", "SERVICEUSAGE", "STORAGE")


def environment(running: Running, config: Path) -> dict[str, str]:
    """Give the environment that makes gcloud speak to `running`, without an account.

    `config`: a folder for gcloud's own files. Settings and accounts of whoever runs the
    tests stay out of it.
    """
    own = {k: v for k, v in os.environ.items() if not k.startswith("CLOUDSDK_")}
    return (
        own
        | {f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}": f"{running.url}/" for api in _APIS}
        | {
            "CLOUDSDK_CONFIG": str(config),
            "CLOUDSDK_CORE_PROJECT": running.world.app.project,
            "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "1",
            "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1",
            "CLOUDSDK_CORE_CHECK_GCE_METADATA": "0",
            "CLOUDSDK_CORE_DISABLE_FILE_LOGGING": "1",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1",
            "CLOUDSDK_SURVEY_DISABLE_PROMPTS": "1",
        }
    )


def gcloud(
    running: Running, config: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run one gcloud command to its end, whatever that is."""
    return subprocess.run(
        ["gcloud", *arguments],
        env=environment(running, config),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
