"""Exports read back, each by its own language's rules, to the REST API's JSON."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import hcl2
import yaml

VARIABLES = ("project", "region", "paused")
_BLOCK = "__is_block__"
_RETRY_DEFAULTS = {
    "retryCount": 0,
    "minBackoffDuration": "5s",
    "maxBackoffDuration": "3600s",
    "maxDoublings": 5,
}


def normal(job: dict[str, Any]) -> dict[str, Any]:
    """Give what a job's JSON means: no retries are said in two ways.

    Deadlines count in hundredths of a second (Terraform's three minutes).
    """
    job = dict(job)
    if job.get("retryConfig") == _RETRY_DEFAULTS:
        del job["retryConfig"]
    if "attemptDeadline" in job:
        job["attemptDeadline"] = round(float(job["attemptDeadline"].rstrip("s")), 2)
    return job


def by_name(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    return {job["name"]: normal(job) for job in jobs}


# --- Terraform ------------------------------------------------------------------


@lru_cache(maxsize=1)  # python-hcl2 is slow
def blocks(text: str) -> dict[str, Any]:
    """Give what python-hcl2 reads: strings stay as they are written, quotes and all."""
    return hcl2.loads(text)


def resources(text: str) -> dict[str, dict[str, Any]]:
    """Give the resources' bodies by address."""
    found = {}
    for resource in blocks(text).get("resource", []):
        ((kind, named),) = _own(resource).items()
        ((label, body),) = _own(named).items()
        found[f"{literal(kind)}.{literal(label)}"] = body
    return found


def defaults(text: str) -> dict[str, Any]:
    """Give the variables' defaults."""
    found = {}
    for variable in blocks(text)["variable"]:
        ((label, body),) = _own(variable).items()
        found[literal(label)] = evaluate(body.get("default"), {})
    return found


def evaluate(value: Any, variables: dict[str, Any]) -> Any:
    """Give the value of an expression: a literal, or a template over variables."""
    if not isinstance(value, str):
        return value
    reference = re.fullmatch(r"\$\{var\.(\w+)\}", value)
    if reference:
        return variables[reference[1]]
    return literal(value, variables)


_TOKEN = re.compile(
    r"""\$\$\{ | %%\{ | \$\{var\.(?P<variable>\w+)\}
      | \\(?:(?P<letter>[nrt"\\]) | u(?P<u4>[0-9a-f]{4}) | U(?P<u8>[0-9a-f]{8}))
      | (?P<plain>[^"\\])""",
    re.VERBOSE | re.DOTALL,
)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def literal(quoted: str, variables: dict[str, Any] | None = None) -> str:
    """Read a quoted HCL template (HCL native syntax specification, templates)."""
    assert quoted[0] == quoted[-1] == '"', quoted
    inner, out, at = quoted[1:-1], [], 0
    while at < len(inner):
        token = _TOKEN.match(inner, at)
        assert token, f"no HCL at {inner[at:]!r}"
        assert token[0] != "$" or inner[at + 1 : at + 2] != "{", "an unknown template"
        assert token[0] != "%" or inner[at + 1 : at + 2] != "{", "an unknown template"
        out.append(_meaning(token, variables or {}))
        at = token.end()
    return "".join(out)


def _meaning(token: re.Match[str], variables: dict[str, Any]) -> str:
    if token["variable"]:
        return variables[token["variable"]]
    if token["letter"]:
        return _LETTERS[token["letter"]]
    if token["u4"] or token["u8"]:
        return chr(int(token["u4"] or token["u8"], 16))
    return token["plain"] or token[0][1:]


def _own(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if not key.startswith("__")}


_API_NAMES = {
    "relative_uri": "relativeUri",
    "http_method": "httpMethod",
    "app_engine_routing": "appEngineRouting",
    "app_engine_http_target": "appEngineHttpTarget",
    "http_target": "httpTarget",
    "oidc_token": "oidcToken",
    "service_account_email": "serviceAccountEmail",
    "time_zone": "timeZone",
    "attempt_deadline": "attemptDeadline",
    "retry_config": "retryConfig",
    "retry_count": "retryCount",
    "max_retry_duration": "maxRetryDuration",
    "min_backoff_duration": "minBackoffDuration",
    "max_backoff_duration": "maxBackoffDuration",
    "max_doublings": "maxDoublings",
}


def from_hcl(text: str, given: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Give the jobs that Terraform would ask the API for."""
    variables = defaults(text) | (given or {})
    jobs = []
    for body in resources(text).values():
        job = _api(body, variables)
        place = f"projects/{job.pop('project')}/locations/{job.pop('region')}"
        assert job.pop("paused") is variables["paused"]
        jobs.append(job | {"name": f"{place}/jobs/{job['name']}"})
    return jobs


def _api(body: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
    job: dict[str, Any] = {}
    for key, value in _own(body).items():
        name = _API_NAMES.get(key, key)
        match value:
            case [block]:
                job[name] = _api(block, variables)
            case dict():
                job[name] = {
                    literal(k, variables): evaluate(v, variables)
                    for k, v in value.items()
                }
            case _:
                job[name] = evaluate(value, variables)
    return job


# --- Config Connector -----------------------------------------------------------


def documents(text: str) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return list(yaml.load_all(text, loader))


def from_manifests(text: str) -> list[dict[str, Any]]:
    """Give the jobs that Config Connector would ask the API for."""
    return [_from_manifest(document) for document in documents(text) if document]


def _from_manifest(document: dict[str, Any]) -> dict[str, Any]:
    spec, metadata = document["spec"], document["metadata"]
    project = metadata["annotations"]["cnrm.cloud.google.com/project-id"]
    job_id = spec.pop("resourceID", metadata["name"])
    token = spec.get("httpTarget", {}).get("oidcToken")
    if token:
        token["serviceAccountEmail"] = token.pop("serviceAccountRef")["external"]
    place = f"projects/{project}/locations/{spec.pop('location')}"
    return {"name": f"{place}/jobs/{job_id}", **spec}


# --- gcloud ---------------------------------------------------------------------

_FLAGS = {
    "schedule": "schedule",
    "time-zone": "timeZone",
    "description": "description",
    "attempt-deadline": "attemptDeadline",
    "max-retry-attempts": "retryConfig.retryCount",
    "max-retry-duration": "retryConfig.maxRetryDuration",
    "min-backoff": "retryConfig.minBackoffDuration",
    "max-backoff": "retryConfig.maxBackoffDuration",
    "max-doublings": "retryConfig.maxDoublings",
    "relative-url": "appEngineHttpTarget.relativeUri",
    "service": "appEngineHttpTarget.appEngineRouting.service",
    "version": "appEngineHttpTarget.appEngineRouting.version",
    "uri": "httpTarget.uri",
    "oidc-service-account-email": "httpTarget.oidcToken.serviceAccountEmail",
    "oidc-token-audience": "httpTarget.oidcToken.audience",
    "http-method": "*.httpMethod",
    "headers": "*.headers",
}
_NUMBERS = {"max-retry-attempts", "max-doublings"}


def from_argv(argv: list[str]) -> dict[str, Any]:
    """Give the job that `gcloud scheduler jobs create …` would ask the API for.

    The flags as gcloud 528 declares them (command_lib/scheduler/flags.yaml).
    """
    assert argv[:3] == ["scheduler", "jobs", "create"]
    kind, job_id, quiet, *words = argv[3:]
    assert quiet == "--quiet"
    target = {"app-engine": "appEngineHttpTarget", "http": "httpTarget"}[kind]
    flags = {}
    for word in words:
        name, equals, value = word.partition("=")
        assert equals
        assert name.startswith("--")
        assert name not in flags
        flags[name[2:]] = value
    place = f"projects/{flags.pop('project')}/locations/{flags.pop('location')}"
    job: dict[str, Any] = {"name": f"{place}/jobs/{job_id}"}
    for name, text in flags.items():
        *path, last = _FLAGS[name].replace("*", target).split(".")
        at = job
        for part in path:
            at = at.setdefault(part, {})
        at[last] = _flag_value(name, text)
    return job


def _flag_value(name: str, text: str) -> Any:
    match name:
        case "http-method":
            return text.upper()
        case "headers":
            return _dictionary(text)
        case _:
            return int(text) if name in _NUMBERS else text


def _dictionary(text: str) -> dict[str, str]:
    """Read a dictionary flag (`gcloud topic escaping`)."""
    mark = ","
    if text.startswith("^"):
        mark, text = text[1:].split("^", 1)
    return dict(item.split("=", 1) for item in text.split(mark))
