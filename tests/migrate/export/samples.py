"""Jobs to export: a few that between them hold everything, and any number at random."""

from __future__ import annotations

import json
import unicodedata
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from migrate.job import (
    AppEngineHttpTarget,
    AppEngineRouting,
    HttpTarget,
    Job,
    JobName,
    OidcToken,
    RetryConfig,
)

_CASES = Path(__file__).parents[2] / "cases"

PROJECT, LOCATION = "demo", "us-central1"


def case(name: str) -> str:
    """Give the text of a file in tests/cases."""
    return (_CASES / name).read_text(encoding="utf-8")


NASTY = [json.loads(line)["text"] for line in case("nasty-strings.jsonl").splitlines()]


def name(job_id: str) -> JobName:
    return JobName(PROJECT, LOCATION, job_id)


def marks(schedule: str, entry: str = "tasks-a-31d0d0822e36") -> dict[str, str]:
    """Give marks as every translated job has them."""
    return {
        "X-Cron-Entry": entry,
        "X-Cron-Schedule": f"{schedule}; UTC",
        "X-Cron-Scope": f"{PROJECT}/{LOCATION}",
        "X-Cron-Set": "default",
    }


def nasty(text: str, job_id: str = "nasty") -> Job:
    """Give a job with the text in every place that takes any."""
    headers = {"X-Text": text, "X-Again": text, **marks("every day 09:00")}
    target = AppEngineHttpTarget(f"/t{text}", headers=headers)
    return Job(name(job_id), "every day 09:00", "UTC", target, description=text)


PLAIN = Job(
    name("plain-31d0d0822e36"),
    "0 9 * * *",
    "UTC",
    AppEngineHttpTarget("/tasks/summary", headers=marks("0 9 * * *")),
)
EVERYTHING = Job(
    name("everything-31d0d0822e37"),
    "1,15 of jan,jul 09:00",
    "America/New_York",
    AppEngineHttpTarget(
        "/t/a?x=1&y=$(id)%20'b'",
        AppEngineRouting("worker", "v2"),
        marks("1,15 of jan,jul 09:00"),
    ),
    description='Größe: it\'s 100% "done", for $5 & more!',
    retry_config=RetryConfig(3, timedelta(hours=36), 0.1, 3600, 16),
    attempt_deadline=timedelta(minutes=10),
)
SERVICE_ONLY = Job(
    name("Service_only"),
    "every 5 minutes",
    "Etc/UTC",
    AppEngineHttpTarget("/t/b", AppEngineRouting("default"), marks("every 5 minutes")),
    retry_config=RetryConfig(0, timedelta(0), 0.1, 3600, 16),
)
THREE_MINUTES = Job(
    name("3-minutes"),
    "every day 09:00",
    "UTC",
    AppEngineHttpTarget("/t/c"),
    retry_config=RetryConfig(5, timedelta(0), 0, 0, 0),
    attempt_deadline=timedelta(minutes=3),
)
HTTP = Job(
    name("http-31d0d0822e38"),
    "*/5 * * * *",
    "Europe/Rome",
    HttpTarget(
        "https://worker-uc.a.run.app/t/d?x=1,2",
        OidcToken("caller@demo.iam.gserviceaccount.com", "https://worker-uc.a.run.app"),
        marks("*/5 * * * *"),
    ),
    retry_config=RetryConfig(2, timedelta(seconds=90), 2.5, 7.125, 3),
    attempt_deadline=timedelta(minutes=3),
)
HTTP_BARE = Job(name("http_bare"), "0 0 * * *", "UTC", HttpTarget("http://x.test/"))

SAMPLES = [PLAIN, EVERYTHING, SERVICE_ONLY, THREE_MINUTES, HTTP, HTTP_BARE]

# Random jobs. Text: whatever every format can hold (what they refuse has its tests).
_characters = st.characters(codec="utf-8", exclude_characters="\0")
_text = (
    st.text(_characters, max_size=30)
    .map(lambda text: unicodedata.normalize("NFC", text))
    .filter(lambda text: text != "--")
)
_word = st.from_regex(r"\A[a-z][a-z0-9-]{0,20}\Z")
_header_name = st.from_regex(r"\AX-[A-Za-z][A-Za-z0-9-]{0,10}\Z")
_headers = st.dictionaries(_header_name, _text, max_size=4)
_backoff = st.integers(0, 36_000_000).map(lambda tenth_ms: tenth_ms / 10_000)
_targets: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        AppEngineHttpTarget,
        _text.map(lambda text: f"/{text}"),
        st.none() | st.builds(AppEngineRouting, _word, st.just("") | _word),
        _headers,
    ),
    st.builds(
        HttpTarget,
        _text.map(lambda text: f"https://x.test/{text}"),
        st.none() | st.builds(OidcToken, _text, _text),
        _headers,
    ),
)
_retries = st.builds(
    RetryConfig,
    st.integers(0, 5),
    st.integers(0, 10**7).map(lambda s: timedelta(seconds=s)),
    _backoff,
    _backoff,
    st.integers(0, 16),
)
_jobs = st.builds(
    Job,
    st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9_-]{0,30}\Z").map(name),
    _text,
    _word,
    _targets,
    _text,
    st.none() | _retries,
    st.none() | st.integers(15, 1800).map(lambda s: timedelta(seconds=s)),
)
JOBS = st.lists(_jobs, max_size=5, unique_by=lambda job: job.name)
