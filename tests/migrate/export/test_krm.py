"""Config Connector: the CRD's fields, YAML's strings, Kubernetes' names."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest
import yaml
from hypothesis import given

from migrate.export.krm import manifests
from migrate.job import to_api
from tests.migrate.export import reading
from tests.migrate.export.samples import HTTP, JOBS, NASTY, PLAIN, case, name, nasty

CRD = jsonschema.Draft202012Validator(json.loads(case("cloudschedulerjob.schema.json")))


@given(JOBS)
def test_every_manifest_is_valid_by_the_crd(jobs):
    documents = reading.documents(manifests(jobs))
    assert [list(CRD.iter_errors(document)) for document in documents if document] == [
        [] for _ in jobs
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"name": "A_b", "annotations": {}}},
        {"spec": {"location": "l", "paused": True, "httpTarget": {"uri": "u"}}},
        {"spec": {"location": "l"}},
        {"spec": {"location": "l", "httpTarget": {"uri": "u"}, "schedule": 9}},
    ],
)
def test_the_check_against_the_crd_can_fail(change):
    (document,) = reading.documents(manifests([PLAIN]))
    assert CRD.is_valid(document)
    assert not CRD.is_valid(document | change)


@given(JOBS)
def test_config_connector_tells_the_jobs_that_the_rest_json_tells(jobs):
    told = reading.by_name(reading.from_manifests(manifests(jobs)))
    assert told == reading.by_name([to_api(job) for job in jobs])


@pytest.mark.parametrize("text", NASTY)
def test_a_nasty_string_comes_back_from_yaml(text):
    job = nasty(text)
    assert reading.from_manifests(manifests([job])) == [to_api(job)]


def test_no_text_is_left_to_a_readers_guess():
    bare = "name kind apiVersion spec metadata location".split()
    tokens = yaml.scan(manifests([nasty(t, f"j{i}") for i, t in enumerate(NASTY)]))
    plain = {t.value for t in tokens if isinstance(t, yaml.ScalarToken) and t.plain}
    assert plain.issuperset(bare)
    assert plain.isdisjoint(NASTY)
    assert all(word.isalpha() and len(word) > 3 for word in plain)


def test_a_job_id_that_is_no_kubernetes_name_is_told_as_resource_id():
    ids = ["plain-1", "A_b", "a-b", "_", "-x-", "a" * 254]
    jobs = [replace(PLAIN, name=name(i)) for i in ids]
    documents = reading.documents(manifests(jobs))
    assert all(CRD.is_valid(document) for document in documents)
    names = [document["metadata"]["name"] for document in documents]
    assert len(set(names)) == len(ids)
    assert names[0] == "plain-1"
    assert "resourceID" not in documents[0]["spec"]
    told = [d["spec"].get("resourceID", d["metadata"]["name"]) for d in documents]
    assert told == ids


def test_the_account_of_an_http_target_is_named_from_outside():
    (document,) = reading.documents(manifests([HTTP]))
    assert document["spec"]["httpTarget"]["oidcToken"] == {
        "serviceAccountRef": {"external": "caller@demo.iam.gserviceaccount.com"},
        "audience": "https://worker-uc.a.run.app",
    }


def test_the_file_says_at_its_top_that_jobs_cannot_be_paused():
    text = manifests([PLAIN])
    assert text.startswith("#")
    assert "no `paused`" in text.partition("---")[0]


def test_without_jobs_there_is_no_document():
    assert reading.from_manifests(manifests([])) == []
