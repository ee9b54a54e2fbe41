"""What answers at a service's /healthz: a host of ours, or something else."""

from __future__ import annotations

from typing import Final

import requests

from migrate.cutover.ways import Health, Silent

_NOT_FOUND: Final = 404
_ASKED: Final = 2  # two versions behind one url would not both say the same for long


def health_of(url: str, timeout: float = 10.0) -> Health | Silent:
    """Ask `url`/healthz, twice: only one answer to both is believed."""
    found = {_asked(url, timeout) for _ in range(_ASKED)}
    if len(found) > 1:
        return Silent(f"{url}/healthz answers now one, now another thing")
    return found.pop()


def _asked(url: str, timeout: float) -> Health | Silent:
    where = f"{url}/healthz"
    try:
        answer = requests.get(where, timeout=timeout, allow_redirects=False)
        if answer.status_code == _NOT_FOUND:
            # Cloud Run's front end keeps /healthz to itself; the host answers both.
            where += "/"
            answer = requests.get(where, timeout=timeout, allow_redirects=False)
        said = answer.json() if answer.ok else {}
        return Health(str(said["entries"]), str(said["store"]))
    except requests.JSONDecodeError:
        return Silent(f"{where} answers, but not as a host does")
    except requests.RequestException as error:
        return Silent(f"{where} gives no answer ({type(error).__name__})")
    except (KeyError, TypeError):
        return Silent(f"{where} answers {answer.status_code}, not as a host does")
