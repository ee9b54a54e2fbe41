"""How a client's JSON is read."""

from __future__ import annotations

import pytest

from emulator.errors import ApiError
from emulator.schema import JOB_V1, masked, read


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ({"time_zone": "UTC"}, {"timeZone": "UTC"}),
        ({"schedule": None, "description": ""}, {}),
        ({"retryConfig": {}}, {"retryConfig": {}}),
        ({"retryConfig": {"retryCount": 0}}, {"retryConfig": {}}),
        ({"retryConfig": {"retryCount": "3"}}, {"retryConfig": {"retryCount": 3}}),
        ({"attemptDeadline": "3600.0s"}, {"attemptDeadline": "3600s"}),
        ({"attemptDeadline": "0.1s"}, {"attemptDeadline": "0.100s"}),
        ({"attemptDeadline": "2.0000001s"}, {"attemptDeadline": "2.000000100s"}),
        ({"attemptDeadline": "0s"}, {"attemptDeadline": "0s"}),
        ({"httpTarget": {"httpMethod": 2}}, {"httpTarget": {"httpMethod": "GET"}}),
        ({"httpTarget": {"httpMethod": 0}}, {"httpTarget": {}}),
        ({"httpTarget": {"httpMethod": "HTTP_METHOD_UNSPECIFIED"}}, {"httpTarget": {}}),
        ({"httpTarget": {"body": "_-8"}}, {"httpTarget": {"body": "/+8="}}),
        (
            {"httpTarget": {"headers": {"A": ""}}},
            {"httpTarget": {"headers": {"A": ""}}},
        ),
        ({"state": "PAUSED", "status": {"anything": 1}}, {}),
    ],
)
def test_a_message_is_read_as_the_servers_do(sent, found):
    assert read(JOB_V1, sent, "job") == found


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ([], "job"),
        ({"schedule": 1}, "job.schedule"),
        ({"retryConfig": 1}, "job.retryConfig"),
        ({"retryConfig": {"retryCount": True}}, "job.retryConfig.retryCount"),
        ({"retryConfig": {"retryCount": 1.5}}, "job.retryConfig.retryCount"),
        ({"attemptDeadline": "1m"}, "job.attemptDeadline"),
        ({"attemptDeadline": 180}, "job.attemptDeadline"),
        ({"httpTarget": {"httpMethod": "get"}}, "job.httpTarget.httpMethod"),
        ({"httpTarget": {"httpMethod": 8}}, "job.httpTarget.httpMethod"),
        ({"httpTarget": {"body": "a"}}, "job.httpTarget.body"),
        ({"httpTarget": {"headers": {"A": 1}}}, "job.httpTarget.headers"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_its_place(sent, place):
    with pytest.raises(ApiError) as refusal:
        read(JOB_V1, sent, "job")
    assert refusal.value.status == 400
    assert f"'{place}'" in refusal.value.message


def test_a_mask_leaves_no_empty_message_where_there_was_none():
    assert masked({}, {}, [("retryConfig", "retryCount")]) == {}
