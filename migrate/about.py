"""Which cronshift this is, and what its results depend on."""

from __future__ import annotations

import sys

from cronspec.zones import TZDATA_VERSION


def own_version() -> str:
    """Give the version of the installed package, or say that there is none."""
    from importlib.metadata import PackageNotFoundError  # noqa: PLC0415 - slow to load
    from importlib.metadata import version as installed  # noqa: PLC0415 - as above

    try:
        return installed("cronshift")
    except PackageNotFoundError:
        return "(from a checkout)"


def versions() -> str:
    """Give the versions that results depend on."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"cronshift {own_version()}, tzdata {TZDATA_VERSION}, Python {python}"
