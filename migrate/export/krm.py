"""Jobs as Config Connector manifests: one CloudSchedulerJob each (v1beta1).

The fields are those of the CRD in GoogleCloudPlatform/k8s-config-connector. All text
is in double quotes: YAML readers differ in what a bare word such as `y`, `1e3` or
`12:30` is, Kubernetes' from Python's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from migrate.export.text import quoted, refuse, unique_names
from migrate.job import to_api

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from migrate.job import Job

_HEADER: Final = """\
# Cloud Scheduler jobs for Config Connector: {count}.
# CloudSchedulerJob has no `paused`: the jobs fire once applied, beside cron.yaml's as
# long as that is deployed. A job of the same name that exists already is taken over.
"""
_FREE_KEYS: Final = {"annotations", "headers"}  # whose keys are anybody's words
_NAME_LENGTH: Final = 253  # of a Kubernetes object (DNS subdomain, RFC 1123)


def manifests(jobs: Sequence[Job]) -> str:
    """Give the jobs as one multi-document YAML file.

    Raises ExportError for text that YAML cannot hold.
    """
    refuse(jobs, lambda _: None)
    names = unique_names((job.name.job_id for job in jobs), _object_name)
    header = _HEADER.format(count=len(jobs))
    return header + "".join(_manifest(job, names[job.name.job_id]) for job in jobs)


def _object_name(job_id: str) -> str:
    """Give a job id as a Kubernetes name: lower case, and no other sign than '-'."""
    name = re.sub(r"[^a-z0-9]", "-", job_id.lower()).strip("-")
    return name[-_NAME_LENGTH:].strip("-") or "job"


def _manifest(job: Job, name: str) -> str:
    document = {
        "apiVersion": "cloudscheduler.cnrm.cloud.google.com/v1beta1",
        "kind": "CloudSchedulerJob",
        "metadata": {
            "name": name,
            "annotations": {"cnrm.cloud.google.com/project-id": job.name.project},
        },
        "spec": _spec(job, name),
    }
    return "\n".join(["---", *_lines(document, "")]) + "\n"


def _spec(job: Job, name: str) -> dict[str, Any]:
    """Give the job's fields, which the CRD names as the REST API does."""
    spec = to_api(job)
    del spec["name"]
    if "oidcToken" in spec.get("httpTarget", {}):
        token = spec["httpTarget"]["oidcToken"]
        account = {"external": token.pop("serviceAccountEmail")}
        spec["httpTarget"]["oidcToken"] = {"serviceAccountRef": account, **token}
    resource_id = {} if name == job.name.job_id else {"resourceID": job.name.job_id}
    return {**resource_id, "location": job.name.location, **spec}


def _lines(
    node: Mapping[str, Any], pad: str, key_text: Callable[[str], str] = str
) -> Iterator[str]:
    """Give a mapping as lines of YAML; its values are mappings, text and integers."""
    for key, value in node.items():
        start = f"{pad}{key_text(key)}:"
        match value:
            case dict():
                free = quoted if key in _FREE_KEYS else str
                yield start
                yield from _lines(value, pad + "  ", free)
            case str():
                yield f"{start} {quoted(value)}"
            case _:
                yield f"{start} {value}"
