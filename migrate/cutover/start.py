"""What a move starts from: the files' entries, what the app serves, what answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cronspec.routing import effective
from migrate import hosts, inputs
from migrate.appengine import app_of
from migrate.cutover.observe import World
from migrate.cutover.ways import Health, Service, Silent
from migrate.problems import ApiError
from migrate.terminal import remark

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from migrate.prepare import Wanted


def world_of(asked: Wanted, hosts_at: Mapping[str, str], at: datetime) -> World:
    """Give what a move starts from.

    `hosts_at` says where a service's host answers, "" for every service.
    """
    return World(
        parent=asked.parent,
        job_set=asked.settings.job_set,
        translations=asked.translations,
        services=_services(asked, hosts_at),
        at=at,
        limits=inputs.limits(asked.files),
        urls=asked.urls,
        theirs=asked.settings.owner == "terraform",
    )


def _services(asked: Wanted, hosts_at: Mapping[str, str]) -> dict[str, Service]:
    """Look up what each service serves and answers; none where there is no app."""
    try:
        app = app_of(asked.project)
    except ApiError as problem:
        remark(f"what the app serves was not looked up: {problem}")
        return {}
    used = {one.route.before for one in asked.translations} & app.services.keys()
    found = {}
    for name in sorted(used):
        part = "" if name == "default" else f"{name}-dot-"
        own = f"https://{part}{app.host}" if app.host else ""
        url = hosts_at.get(name) or hosts_at.get("")
        answering = effective("/healthz", name, asked.files.rules, asked.project)
        health: Health | Silent
        if url is None and answering.service != name:
            health = Silent(
                f"dispatch.yaml sends its /healthz to {answering.service}: say where "
                f"it answers, --host {name}=URL"
            )
        elif url or own:
            health = hosts.health_of(url or own)
        else:
            health = Silent("its address is not known")
        found[name] = Service(app.services[name], health)
    return found
