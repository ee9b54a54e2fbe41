"""The emulator's own calls, and its front door, as another process uses them."""

from __future__ import annotations

import re
import signal
import socket
import struct
import subprocess
import sys
from contextlib import contextmanager

import pytest
import requests
from click.testing import CliRunner

from emulator.__main__ import main
from emulator.clock import RealClock
from emulator.faults import Fault, fault_from_json, fault_to_json

PARENT = "projects/shop/locations/europe-west1"
JOB = {
    "name": f"{PARENT}/jobs/a",
    "schedule": "every 5 minutes",
    "appEngineHttpTarget": {"relativeUri": "/a"},
}


@pytest.fixture
def ask(running):
    with requests.Session() as session:

        def ask(method, path, body=None):
            return session.request(method, running.url + path, json=body, timeout=5)

        yield ask


def test_the_journal_is_read_and_cleared(ask):
    ask("POST", f"/v1/{PARENT}/jobs", JOB)
    ask("GET", f"/v1/{PARENT}/jobs?pageSize=1")
    first, second = ask("GET", "/_emulator/journal").json()["exchanges"]
    assert (first["method"], first["body"], first["status"]) == ("POST", JOB, 200)
    assert second["query"] == {"pageSize": "1"}
    ask("DELETE", "/_emulator/journal")
    ask("GET", f"/v1/{PARENT}/jobs/a")
    (third,) = ask("GET", "/_emulator/journal").json()["exchanges"]
    assert third["number"] == 3


def test_faults_are_put_in_force_counted_and_lifted(ask):
    fault = {"do": "fail", "status": 503, "when": "after", "path": "/jobs$"}
    assert ask("POST", "/_emulator/faults", fault).status_code == 200
    assert ask("POST", f"/v1/{PARENT}/jobs", JOB).status_code == 503
    assert ask("POST", f"/v1/{PARENT}/jobs", JOB).status_code == 409
    (met,) = ask("GET", "/_emulator/faults").json()["faults"]
    assert met["met"] == 2
    ask("DELETE", "/_emulator/faults")
    assert ask("GET", "/_emulator/faults").json() == {"faults": []}


@pytest.mark.parametrize(
    "fault",
    [
        {"do": "fail", "status": 429, "message": "m", "details": [{"a": 1}]},
        {"do": "cut", "when": "after", "method": "POST", "skip": 2, "times": None},
        {"do": "slow", "seconds": 0.5, "path": "x", "times": 3},
    ],
)
def test_a_fault_written_is_the_fault_read(fault):
    read = fault_from_json(fault)
    assert isinstance(read, Fault)
    assert fault_from_json(fault_to_json(read)) == read
    assert fault.items() <= fault_to_json(read).items()


@pytest.mark.parametrize(
    "fault",
    [
        [],
        {},
        {"do": "explode"},
        {"do": "fail"},
        {"do": "fail", "status": 200},
        {"do": "cut", "when": "never"},
        {"do": "cut", "path": "("},
        {"do": "cut", "colour": "red"},
    ],
)
def test_what_is_no_fault_is_refused_by_its_words(ask, fault):
    answer = ask("POST", "/_emulator/faults", fault)
    assert answer.status_code == 400
    assert "fault" in answer.json()["error"]["message"]


def test_fields_that_only_the_server_sets_can_be_set_here(ask):
    ask("POST", f"/v1beta1/{PARENT}/jobs", JOB | {"legacyAppEngineCron": True})
    fields = {"state": "PAUSED", "status": {"code": 5}, "scheduleTime": None}
    change = {"name": JOB["name"], "legacy": True, "fields": fields}
    assert ask("PATCH", "/_emulator/jobs", change).json()["state"] == "PAUSED"
    (job,) = ask("GET", "/_emulator/jobs").json()["jobs"]
    assert (job["state"], job["status"]) == ("PAUSED", {"code": 5})
    assert "scheduleTime" not in job
    nowhere = {"name": JOB["name"], "fields": fields}
    assert ask("PATCH", "/_emulator/jobs", nowhere).status_code == 404


def test_app_quota_and_clock_are_set(ask, running):
    services = {"default": {"a": 0.5, "b": 0.5}}
    ask("PUT", "/_emulator/app", {"location": "us-central", "services": services})
    assert running.world.app.location == "us-central1"
    assert ask("PUT", "/_emulator/app", {"location": "mars"}).status_code == 400
    ask("PUT", "/_emulator/quota", {"writes": 0})
    assert ask("POST", f"/v1/{PARENT}/jobs", JOB).status_code == 429
    moved = ask("POST", "/_emulator/clock", {"advance": 90})
    assert moved.json() == {"now": "2026-03-04T10:22:00Z"}
    assert ask("POST", "/_emulator/clock", {"advance": -1}).status_code == 400
    running.world.clock = RealClock()
    assert ask("POST", "/_emulator/clock", {"advance": 1}).status_code == 400
    assert ask("GET", "/_emulator/weather").status_code == 404


def test_what_is_not_json_is_refused(running):
    answer = requests.post(f"{running.url}/v1/{PARENT}/jobs", data="{", timeout=5)
    assert answer.status_code == 400
    assert "Invalid JSON payload" in answer.json()["error"]["message"]


# --- python -m emulator serve ------------------------------------------------------


@contextmanager
def serving(*options):
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "emulator", "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        first = process.stdout.readline()
        yield re.search(r"http://\S+", first)[0]
    finally:
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=10)
        assert (process.returncode, error) == (0, "")


def test_it_serves_until_interrupted_and_a_file_keeps_the_jobs(tmp_path):
    options = ("--project", "shop", "--app-location", "europe-west")
    kept = ("--store", str(tmp_path / "jobs.db"))
    with serving(*options, *kept, "--quotas", "--clock", "2026-03-04T10:20:30") as url:
        made = requests.post(f"{url}/v1/{PARENT}/jobs", json=JOB, timeout=5).json()
        assert made["scheduleTime"] == "2026-03-04T10:25:00Z"
    with serving(*options, *kept, "--latency", "30") as url:
        begun = requests.get(f"{url}/v1/{PARENT}/jobs/a", timeout=5)
        assert begun.json() == made
        assert begun.elapsed.total_seconds() >= 0.03


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--app-location", "mars"], "app location 'mars'"),
        (["--clock", "noon"], "noon"),
        (["--store", "/nowhere/jobs.db"], "unable to open database file"),
    ],
)
def test_a_wrong_option_is_said_in_one_line(options, message):
    ended = CliRunner().invoke(main, ["serve", *options])
    assert ended.exit_code == 1
    assert message in ended.output
    assert len(ended.output.splitlines()) == 1


def test_a_taken_port_is_said_in_one_line(running):
    port = running.url.rpartition(":")[2]
    ended = CliRunner().invoke(main, ["serve", "--port", port])
    assert ended.exit_code == 1
    assert "Address already in use" in ended.output


@pytest.mark.parametrize(
    "part", ["", "POST /v1/x HTTP/1.1\r\nContent-Length: 9\r\n\r\n"]
)
def test_a_client_that_breaks_off_leaves_no_trace(running, capfd, part):
    host, port = running.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as broken:
        broken.sendall(part.encode())
        # Closing with this option resets the connection instead of ending it.
        linger = struct.pack("ii", 1, 0)
        broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    requests.get(f"{running.url}/v1/{PARENT}/jobs", timeout=5)
    assert capfd.readouterr().err == ""
