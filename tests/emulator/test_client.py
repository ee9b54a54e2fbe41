"""Google's own Python client against the emulator, over REST."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import scheduler_v1, scheduler_v1beta1
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask

from emulator.errors import error_info
from emulator.faults import Cut, Fail, Fault, Slow, When

PARENT = "projects/shop/locations/europe-west1"
NAME = f"{PARENT}/jobs/a"


def connect(running, api=scheduler_v1):
    return api.CloudSchedulerClient(
        transport="rest",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": running.url},
    )


@pytest.fixture
def client(running):
    with connect(running) as client:
        yield client


def job(name=NAME, **fields):
    target = scheduler_v1.AppEngineHttpTarget(http_method="GET", relative_uri="/a")
    return scheduler_v1.Job(
        name=name, schedule="0 9 * * 1", app_engine_http_target=target, **fields
    )


def create(client, name=NAME):
    return client.create_job(parent=PARENT, job=job(name), retry=None, timeout=5)


def test_a_job_lives_through_every_call(client):
    created = client.create_job(
        parent=PARENT,
        job=job(
            retry_config=scheduler_v1.RetryConfig(
                retry_count=3, min_backoff_duration=Duration(nanos=100_000_000)
            )
        ),
    )
    assert created.app_engine_http_target.http_method == scheduler_v1.HttpMethod.GET
    assert created.retry_config.min_backoff_duration.microseconds == 100_000
    assert created.state == scheduler_v1.Job.State.ENABLED
    assert client.get_job(name=NAME) == created

    changed = client.update_job(
        job=scheduler_v1.Job(name=NAME, schedule="every 5 minutes", description="no"),
        update_mask=FieldMask(paths=["schedule", "retry_config.retry_count"]),
    )
    assert (changed.schedule, changed.description) == ("every 5 minutes", "")
    assert changed.retry_config.retry_count == 0
    assert changed.app_engine_http_target == created.app_engine_http_target

    assert client.pause_job(name=NAME).state == scheduler_v1.Job.State.PAUSED
    assert client.resume_job(name=NAME).state == scheduler_v1.Job.State.ENABLED
    assert client.run_job(name=NAME).last_attempt_time == created.user_update_time
    client.delete_job(name=NAME)
    assert list(client.list_jobs(parent=PARENT)) == []


def test_what_the_server_gave_can_be_sent_back_and_changes_nothing(client):
    created = create(client)
    fields = ["schedule", "time_zone", "app_engine_http_target", "retry_config"]
    again = client.update_job(job=created, update_mask=FieldMask(paths=fields))
    assert again == created


def test_errors_arrive_as_the_clients_own(client):
    create(client)
    with pytest.raises(exceptions.Conflict):
        create(client)
    with pytest.raises(exceptions.NotFound):
        client.get_job(name=f"{NAME}x")
    with pytest.raises(exceptions.BadRequest, match="must be in the PAUSED state"):
        client.resume_job(name=NAME)
    with pytest.raises(exceptions.BadRequest, match="Schedule or time zone is invalid"):
        client.update_job(
            job=scheduler_v1.Job(name=NAME, schedule="x"),
            update_mask=FieldMask(paths=["schedule"]),
        )


def test_lists_page_by_themselves(client):
    names = [f"{PARENT}/jobs/j{number}" for number in range(7)]
    for name in names:
        create(client, name)
    listed = client.list_jobs(request={"parent": PARENT, "page_size": 3})
    assert [found.name for found in listed] == names


def test_v1beta1_sees_the_legacy_jobs(running, client):
    with connect(running, scheduler_v1beta1) as beta:
        target = scheduler_v1beta1.AppEngineHttpTarget(relative_uri="/a")
        legacy = {"parent": PARENT, "legacy_app_engine_cron": True}
        made = [
            beta.create_job(
                parent=PARENT,
                job=scheduler_v1beta1.Job(
                    schedule="every 5 minutes",
                    legacy_app_engine_cron=True,
                    app_engine_http_target=target,
                ),
            ).name
            for _ in range(2)
        ]
        assert list(client.list_jobs(parent=PARENT)) == []
        assert {found.name for found in beta.list_jobs(request=legacy)} == set(made)
        for name in made:
            beta.delete_job(request={"name": name, "legacy_app_engine_cron": True})
        assert list(beta.list_jobs(request=legacy)) == []


# --- faults ----------------------------------------------------------------------

POST = {"method": "POST", "path": "/jobs$"}


@pytest.mark.parametrize("when", When)
@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (Fail(503), exceptions.ServiceUnavailable),
        (Fail(429), exceptions.TooManyRequests),
        (Fail(403, "no", [error_info("SERVICE_DISABLED")]), exceptions.Forbidden),
        (Cut(), requests.exceptions.ConnectionError),
    ],
)
def test_a_fault_comes_before_or_after_the_effect(
    running, client, trouble, error, when
):
    running.world.faults.add(Fault(trouble, when, **POST))
    with pytest.raises(error):
        create(client)
    kept = [found.name for found in client.list_jobs(parent=PARENT)]
    assert kept == ([NAME] if when is When.AFTER else [])
    first = running.world.journal.exchanges()[0]
    assert first.done is (when is When.AFTER)
    assert first.status == (trouble.status if isinstance(trouble, Fail) else 0)


def test_a_fault_passes_over_the_first_and_ends_after_its_times(running, client):
    running.world.faults.add(Fault(Fail(503), **POST, skip=1, times=2))
    outcomes = []
    for number in range(5):
        try:
            create(client, f"{PARENT}/jobs/j{number}")
            outcomes.append("made")
        except exceptions.ServiceUnavailable:
            outcomes.append("503")
    assert outcomes == ["made", "503", "503", "made", "made"]
    running.world.faults.add(Fault(Fail(503), times=None))
    with pytest.raises(exceptions.ServiceUnavailable):
        client.list_jobs(parent=PARENT, retry=None)
    running.world.faults.clear()
    client.list_jobs(parent=PARENT, retry=None)


@pytest.mark.parametrize("when", When)
def test_a_client_that_waits_too_short_learns_nothing(running, client, when):
    running.world.faults.add(Fault(Slow(0.4), when, **POST))
    with pytest.raises(requests.exceptions.ReadTimeout):
        client.create_job(parent=PARENT, job=job(), timeout=0.05)
    kept = [found.name for found in client.list_jobs(parent=PARENT)]
    assert kept == ([NAME] if when is When.AFTER else [])


def test_slow_calls_wait_side_by_side(running, client):
    running.world.faults.add(Fault(Slow(0.05), times=None))
    begun = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        names = [f"{PARENT}/jobs/j{number}" for number in range(60)]
        list(pool.map(lambda name: create(client, name), names))
    assert time.monotonic() - begun < 60 * 0.05 / 3


def test_closing_ends_waits_and_kept_connections(running, client):
    create(client)
    running.world.faults.add(Fault(Slow(60), times=None))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(create, client, f"{PARENT}/jobs/b")
        while len(running.world.journal.exchanges()) < 2:
            time.sleep(0.005)
        running.world.closing.set()
        waiting.result(5)
    with pytest.raises(requests.exceptions.ConnectionError):
        create(client, f"{PARENT}/jobs/c")
