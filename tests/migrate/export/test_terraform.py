"""Terraform: the provider's schema, HCL's strings, variables and import blocks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from migrate.export import EXPORTS, ExportError, hcl
from migrate.job import JobName, to_api
from tests.migrate.export import reading
from tests.migrate.export.samples import (
    EVERYTHING,
    HTTP,
    JOBS,
    LOCATION,
    NASTY,
    PLAIN,
    PROJECT,
    SAMPLES,
    THREE_MINUTES,
    case,
    name,
    nasty,
)

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = json.loads(case("google_cloud_scheduler_job.json"))
TERRAFORM = pytest.mark.skipif(
    shutil.which("terraform") is None, reason="terraform is not installed"
)


def faults(body: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Tell where a block breaks the provider's schema."""
    attributes, inner = schema["attributes"], schema.get("blocks", {})
    own = {key: value for key, value in body.items() if not key.startswith("__")}
    found = [f"unknown {key}" for key in own if key not in attributes | inner]
    required = [key for key, kind in attributes.items() if kind.endswith(" required")]
    found += [f"no {key}" for key in required if key not in own]
    if len(set(own) & set(schema.get("exactly_one_of", []))) != (
        1 if "exactly_one_of" in schema else 0
    ):
        found.append("not exactly one target")
    if "at_least_one_of" in schema and not set(own) & set(schema["at_least_one_of"]):
        found.append("an empty block")
    for key, value in own.items():
        if key in inner:
            assert isinstance(value, list)
            found += [f"{key} {len(value)} times"] * (len(value) != 1)
            found += [f"{key}: {f}" for f in faults(value[0], inner[key])]
        elif key in attributes and not fits(value, attributes[key].split()[0]):
            found.append(f"{key} = {value!r}")
    return found


def fits(value: Any, kind: str) -> bool:
    variables = dict.fromkeys(reading.VARIABLES, "v") | {"paused": False}
    if kind == "map":
        values = value.values() if isinstance(value, dict) else [None]
        return all(isinstance(v, str) and fits(v, "string") for v in values)
    value = reading.evaluate(value, variables)
    match kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "duration":
            return bool(re.fullmatch(r"\d+(\.\d{1,9})?s", value))
        case _:
            return isinstance(value, str)


@settings(deadline=None, max_examples=25)  # python-hcl2 is slow
@given(JOBS)
def test_every_block_holds_what_the_provider_takes_and_nothing_else(jobs):
    found = reading.resources(hcl(jobs))
    assert len(found) == len(jobs)
    for address, body in found.items():
        assert re.fullmatch(r"google_cloud_scheduler_job\.[A-Za-z]\w*", address)
        assert faults(body, SCHEMA) == []


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        ({"name": '"a"', "http_target": [{"uri": '"u"'}], "x": 1}, "unknown x"),
        ({"http_target": [{"uri": '"u"'}]}, "no name"),
        ({"name": '"a"'}, "not exactly one target"),
        ({"name": '"a"', "http_target": [{}]}, "http_target: no uri"),
    ],
)
def test_the_check_against_the_schema_can_fail(broken, fault):
    assert fault in faults(broken, SCHEMA)


@settings(deadline=None, max_examples=25)  # python-hcl2 is slow
@given(JOBS)
def test_terraform_tells_the_jobs_that_the_rest_json_tells(jobs):
    told = reading.by_name(reading.from_hcl(hcl(jobs)))
    assert told == reading.by_name([to_api(job) for job in jobs])


@pytest.mark.parametrize("text", NASTY)
def test_a_nasty_string_comes_back_from_hcl(text):
    job = nasty(text)
    assert reading.from_hcl(hcl([job])) == [to_api(job)]


@TERRAFORM
def test_terraform_itself_reads_the_nasty_strings_as_meant(tmp_path: Path):
    found = reading.resources(hcl([nasty(t, f"j{i}") for i, t in enumerate(NASTY)]))
    written = [body["description"] for body in found.values()]
    lines = [f"  s{i} = {text}" for i, text in enumerate(written)]
    (tmp_path / "main.tf").write_text("\n".join(["locals {", *lines, "}\n"]))
    values = ", ".join(f"local.s{i}" for i in range(len(written)))
    asked = f"base64encode(jsonencode([{values}]))"
    told = terraform(tmp_path, "console", asked=asked)
    decoded = subprocess.run(
        ["base64", "--decode"], input=json.loads(told), capture_output=True, text=True,
        check=True, encoding="utf-8",
    )  # fmt: skip
    assert json.loads(decoded.stdout) == NASTY


@TERRAFORM
def test_the_file_is_formatted_as_terraform_fmt_does(tmp_path: Path):
    nasties = [nasty(text, f"j{i}") for i, text in enumerate(NASTY)]
    text = hcl([*SAMPLES, *nasties], import_blocks=True)
    (tmp_path / "main.tf").write_text(text, encoding="utf-8")
    terraform(tmp_path, "fmt", "-diff")
    assert (tmp_path / "main.tf").read_text(encoding="utf-8") == text


def terraform(folder: Path, *arguments: str, asked: str = "") -> str:
    """Run terraform in the folder, with no settings of whoever runs the tests."""
    (folder / "none.tfrc").touch()
    ran = subprocess.run(
        ["terraform", *arguments],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)}
        | {"TF_CLI_CONFIG_FILE": str(folder / "none.tfrc"), "CHECKPOINT_DISABLE": "1"},
        input=asked,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_project_and_region_are_variables_which_the_scope_mark_follows():
    other = {"project": "other", "region": "europe-west1"}
    (job,) = reading.from_hcl(hcl([PLAIN]), other)
    assert job["name"] == "projects/other/locations/europe-west1/jobs/" + (
        PLAIN.name.job_id
    )
    headers = job["appEngineHttpTarget"]["headers"]
    assert headers["X-Cron-Scope"] == "other/europe-west1"


def test_the_variables_default_to_the_jobs_home_and_to_firing():
    assert reading.defaults(hcl([PLAIN])) == {
        "project": PROJECT,
        "region": LOCATION,
        "paused": False,
    }


def test_without_jobs_the_file_is_still_valid():
    text = hcl([])
    assert reading.resources(text) == {}
    assert reading.defaults(text) == {"project": None, "region": None, "paused": False}


def test_import_blocks_stand_beside_their_resources_on_wish_only():
    assert "import" not in reading.blocks(hcl(SAMPLES))
    text = hcl(SAMPLES, import_blocks=True)
    variables = reading.defaults(text)
    imported = {
        block["to"]: reading.evaluate(block["id"], variables)
        for block in reading.blocks(text)["import"]
    }
    assert imported == {
        f"${{{address}}}": (
            f"projects/{PROJECT}/locations/{LOCATION}/jobs/"
            f"{reading.literal(body['name'])}"
        )
        for address, body in reading.resources(text).items()
    }
    assert len(imported) == len(SAMPLES)


def test_a_job_without_target_service_has_no_routing_block():
    (body,) = reading.resources(hcl([PLAIN])).values()
    assert "app_engine_routing" not in body["app_engine_http_target"][0]


def test_three_minutes_on_app_engine_are_written_so_that_the_provider_sends_them():
    text = hcl([THREE_MINUTES])
    (body,) = reading.resources(text).values()
    assert body["attempt_deadline"] == '"180.001s"'
    assert '# A millisecond over three minutes: the provider takes "180s"' in text


def test_three_minutes_on_http_are_the_default_there_and_stay_as_they_are():
    (body,) = reading.resources(hcl([HTTP])).values()
    assert body["attempt_deadline"] == '"180s"'


def test_any_other_deadline_stays_as_it_is():
    job = replace(EVERYTHING, attempt_deadline=timedelta(hours=24))
    (body,) = reading.resources(hcl([job])).values()
    assert body["attempt_deadline"] == '"86400s"'


def test_ids_that_differ_in_signs_only_get_names_of_their_own():
    jobs = [replace(PLAIN, name=name(i)) for i in ("a-b", "a_b", "1a", "job_1a")]
    found = reading.resources(hcl(jobs))
    assert len(found) == 4
    again = reading.resources(hcl(jobs[::-1]))
    assert {a: b["name"] for a, b in found.items()} == {
        a: b["name"] for a, b in again.items()
    }


def test_text_that_terraform_would_compose_is_refused_with_its_place():
    job = replace(PLAIN, description="e\u0301")
    with pytest.raises(ExportError, match=r"plain-.*: description 'e.': .*composes"):
        hcl([job])


def test_jobs_of_two_homes_are_refused():
    job = replace(EVERYTHING, name=JobName("other", LOCATION, "b"))
    with pytest.raises(ExportError, match="demo/us-central1, other/us-central1"):
        hcl([PLAIN, job])


def test_half_a_character_is_refused_in_every_format():
    job = nasty("a\ud800b")
    for export in EXPORTS.values():
        with pytest.raises(ExportError, match=r"description 'a.ud800b'.*surrogate"):
            export([job])
