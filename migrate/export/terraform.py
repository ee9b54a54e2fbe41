"""Jobs as Terraform: one `google_cloud_scheduler_job` each, for a folder of their own.

The provider's schema and habits are those of hashicorp/terraform-provider-google,
resource_cloud_scheduler_job.go. Two of them shape what is written here: an empty
`app_engine_routing` block is refused, and `attempt_deadline = "180s"` is taken for the
default and not sent, which an App Engine target reads as ten minutes or more.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import timedelta
from textwrap import indent
from typing import TYPE_CHECKING, Final, assert_never

from cronspec.naming import SCOPE_HEADER
from migrate.export.text import ExportError, quoted, refuse, unique_names
from migrate.job import AppEngineHttpTarget, HttpTarget, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from migrate.job import AppEngineRouting, Job, OidcToken, RetryConfig

_TYPE: Final = "google_cloud_scheduler_job"
_UNSENT: Final = timedelta(seconds=180)
_SENT: Final = timedelta(seconds=180, milliseconds=1)
_SCOPE: Final = '"${var.project}/${var.region}"'

_HEADER: Final = """\
# Cloud Scheduler jobs: {count}. Give this file a folder of its own, as it declares
# variables. The jobs fire once applied, beside cron.yaml's as long as that is
# deployed; -var paused=true makes them paused.
"""
_IMPORT_HEADER: Final = """\
# The import blocks (Terraform 1.6 or newer) take over jobs that exist already; a block
# whose job does not exist is an error, so drop it. Look at the plan before you apply:
# paused = false resumes a job that was paused.
"""
_UNSENT_COMMENT: Final = """\
# A millisecond over three minutes: the provider takes "180s" for its default and
# sends nothing, and App Engine would allow ten minutes or more.
"""


def hcl(jobs: Sequence[Job], *, import_blocks: bool = False) -> str:
    """Give the jobs as one .tf file, formatted as `terraform fmt` does.

    Raises ExportError for text that Terraform would change, and for jobs of several
    projects or locations, which one pair of variables cannot name.
    """
    refuse(jobs, _changed)
    homes = sorted({(job.name.project, job.name.location) for job in jobs})
    if len(homes) > 1:
        several = ", ".join("/".join(home) for home in homes)
        raise ExportError(f"jobs of several homes ({several}); export each by itself")
    addresses = unique_names((job.name.job_id for job in jobs), _identifier)
    header = _HEADER.format(count=len(jobs)) + _IMPORT_HEADER * import_blocks
    parts = [header.rstrip("\n"), *_variables(*(homes[0] if homes else ("", "")))]
    for job in jobs:
        address = addresses[job.name.job_id]
        if import_blocks:
            parts.append(_import(job, address))
        parts.append(_resource(job, address))
    return "\n\n".join(parts) + "\n"


def _changed(text: str) -> str | None:
    if unicodedata.is_normalized("NFC", text):
        return None
    return "Terraform composes its characters (NFC); write it composed"


def _identifier(job_id: str) -> str:
    """Give a job id as an HCL identifier: it begins with a letter or underscore."""
    name = re.sub(r"[^A-Za-z0-9]", "_", job_id)
    return name if re.match(r"[A-Za-z]", name) else f"job_{name}"


def _variables(project: str, region: str) -> list[str]:
    """Give the variables; those that no job tells have no default."""
    places = [
        ("project", project, "The project that the jobs live in."),
        ("region", region, "The jobs' location: the app's own."),
    ]
    known = [
        _variable(name, "string", words, _text(value) if value else "")
        for name, value, words in places
    ]
    words = "Whether the jobs are kept from firing."
    return [*known, _variable("paused", "bool", words, "false")]


def _variable(name: str, kind: str, words: str, default: str) -> str:
    described = [("description", _text(words)), ("type", kind)]
    known = [("default", default)] if default else []
    return _block(f'variable "{name}"', _aligned(described + known))


def _import(job: Job, address: str) -> str:
    job_id = (
        f'"projects/${{var.project}}/locations/${{var.region}}/jobs/{job.name.job_id}"'
    )
    return _block("import", _aligned([("to", f"{_TYPE}.{address}"), ("id", job_id)]))


def _resource(job: Job, address: str) -> str:
    common = [
        ("project", "var.project"),
        ("region", "var.region"),
        ("name", _text(job.name.job_id)),
        ("schedule", _text(job.schedule)),
        ("time_zone", _text(job.time_zone)),
        ("paused", "var.paused"),
    ]
    if job.description:
        common.insert(3, ("description", _text(job.description)))
    parts = [_aligned(common), _deadline(job), _retry_config(job.retry_config)]
    return _block(f'resource "{_TYPE}" "{address}"', *parts, _target(job))


def _deadline(job: Job) -> str:
    deadline, comment = job.attempt_deadline, ""
    if deadline is None:
        return ""
    if deadline == _UNSENT and isinstance(job.target, AppEngineHttpTarget):
        deadline, comment = _SENT, _UNSENT_COMMENT
    return comment + _aligned([("attempt_deadline", _text(seconds(deadline)))])


def _retry_config(config: RetryConfig | None) -> str:
    if config is None:
        return ""
    values = [
        ("retry_count", str(config.retry_count)),
        ("max_retry_duration", _text(seconds(config.max_retry_duration))),
        ("min_backoff_duration", _text(seconds(config.min_backoff))),
        ("max_backoff_duration", _text(seconds(config.max_backoff))),
        ("max_doublings", str(config.max_doublings)),
    ]
    return _block("retry_config", _aligned(values))


def _target(job: Job) -> str:
    headers = _headers(job)
    match job.target:
        case AppEngineHttpTarget(relative_uri=uri, routing=routing, http_method=method):
            request = [("http_method", _text(method)), ("relative_uri", _text(uri))]
            last = "" if routing is None else _routing(routing)
            return _block("app_engine_http_target", _aligned(request), headers, last)
        case HttpTarget(uri=uri, oidc_token=token, http_method=method):
            request = [("http_method", _text(method)), ("uri", _text(uri))]
            last = "" if token is None else _oidc_token(token)
            return _block("http_target", _aligned(request), headers, last)
        case _:
            assert_never(job.target)


def _routing(routing: AppEngineRouting) -> str:
    named = [("service", _text(routing.service))]
    if routing.version:
        named.append(("version", _text(routing.version)))
    return _block("app_engine_routing", _aligned(named))


def _oidc_token(token: OidcToken) -> str:
    email, audience = _text(token.service_account_email), _text(token.audience)
    values = [("service_account_email", email), ("audience", audience)]
    return _block("oidc_token", _aligned(values))


def _headers(job: Job) -> str:
    """Give the headers as a map; a job's scope mark follows the variables."""
    if not job.target.headers:
        return ""
    scope = f"{job.name.project}/{job.name.location}"
    values = [
        (
            _text(name),
            _SCOPE if (name, value) == (SCOPE_HEADER, scope) else _text(value),
        )
        for name, value in job.target.headers.items()
    ]
    return _block("headers =", _aligned(values))


def _text(value: str) -> str:
    r"""Give a string as HCL's literal: `${` and `%{` would begin a template.

    A sign doubled says "no template". Some readers (python-hcl2) then look for the
    closing brace; where none follows, or where several signs stand in a row and it is
    not plain which are a pair, the opening one is written by its number.

    >>> print(_text("cost: ${x} $ %{y} 5%"), _text("${"), _text("$${x}"))
    "cost: $${x} $ %%{y} 5%" "$\u007b" "$$\u007bx}"
    """
    return re.sub(r"([$%]+)\{", _no_template, quoted(value))


def _no_template(opening: re.Match[str]) -> str:
    signs, rest = opening[1], opening.string[opening.end() :]
    if len(signs) == 1 and "}" in rest:
        return f"{signs}{signs}{{"
    return f"{signs}\\u007b"


def _aligned(pairs: Sequence[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in pairs)
    return "\n".join(f"{name:<{width}} = {value}" for name, value in pairs)


def _block(head: str, *parts: str) -> str:
    body = "\n\n".join(part for part in parts if part)
    return f"{head} {{\n{indent(body, '  ')}\n}}"
