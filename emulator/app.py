"""The App Engine app of the emulated project: its place, its services, its hosts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emulator.errors import ApiError, Json, error_info

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# App Engine's ids of two locations lack the digit that Cloud Scheduler's have.
_ALIASES: Final = {"us-central": "us-central1", "europe-west": "europe-west1"}

# Locations with App Engine, and the region id in their apps' host names.
REGION_IDS: Final = {
    "asia-east1": "de",
    "asia-east2": "df",
    "asia-northeast1": "an",
    "asia-northeast2": "dt",
    "asia-northeast3": "du",
    "asia-south1": "el",
    "asia-southeast1": "as",
    "asia-southeast2": "et",
    "australia-southeast1": "ts",
    "europe-central2": "lm",
    "europe-west1": "ew",
    "europe-west2": "nw",
    "europe-west3": "ey",
    "europe-west6": "oa",
    "northamerica-northeast1": "nn",
    "southamerica-east1": "rj",
    "us-central1": "uc",
    "us-east1": "ue",
    "us-east4": "uk",
    "us-west1": "uw",
    "us-west2": "wl",
    "us-west3": "wm",
    "us-west4": "wn",
}


def scheduler_location(location: str) -> str:
    """Give Cloud Scheduler's id of an App Engine location.

    >>> scheduler_location("europe-west"), scheduler_location("us-east1")
    ('europe-west1', 'us-east1')
    """
    return _ALIASES.get(location, location)


@dataclass(frozen=True, slots=True)
class App:
    """One project and its App Engine app; an empty `location` means: no app.

    `services` has each service's versions and their shares of the traffic.
    """

    project: str = "demo-project"
    location: str = "us-central1"
    services: Mapping[str, Mapping[str, float]] = field(
        default_factory=lambda: {"default": {"v1": 1.0}}
    )
    dispatch_rules: Sequence[Json] = ()

    def __post_init__(self) -> None:
        """Take App Engine's spelling of a location as well. Raises ValueError."""
        object.__setattr__(self, "location", scheduler_location(self.location))
        if self.location and self.location not in REGION_IDS:
            raise ValueError(
                f"app location {self.location!r}: expected one of "
                f"{', '.join(sorted(REGION_IDS))}"
            )

    @property
    def domain(self) -> str:
        """The app's own host name."""
        return f"{self.project}.{REGION_IDS[self.location]}.r.appspot.com"

    def host(self, routing: Json) -> str:
        """Give the host that a routing means: [instance.][version.][service.]domain."""
        parts = [routing.get(part) for part in ("instance", "version", "service")]
        return ".".join([*filter(None, parts), self.domain])

    def locations(self) -> list[str]:
        """Give Cloud Scheduler's locations, the app's own first."""
        return sorted(REGION_IDS, key=lambda known: (known != self.location, known))

    def check_project(self, project: str) -> None:
        """Raise ApiError for a project other than the emulated one."""
        if project != self.project:
            raise ApiError(
                "PERMISSION_DENIED",
                f"Permission denied on resource project {project}.",
                [error_info("CONSUMER_INVALID", consumer=f"projects/{project}")],
            )
