"""What is read of an app.yaml, and which YAML files are none."""

import pytest

from cronspec.config import AppFile, LoginHandler, Place, load_app


def app(text: str) -> AppFile:
    loaded = load_app(text, "app.yaml")
    assert loaded is not None
    return loaded


def test_what_is_needed_of_an_app_yaml_is_read() -> None:
    text = (
        "runtime: python313\nservice: worker\nentrypoint: gunicorn main:app\n"
        "basic_scaling: {max_instances: 2}\nhandlers:\n- url: /tasks/.*\n"
        "  script: auto\n  login: admin\n- url: /.*\n  script: auto\n- what\n"
    )
    login = LoginHandler("/tasks/.*", "admin", Place("app.yaml", 6, 1))
    assert app(text) == AppFile(
        file="app.yaml",
        service="worker",
        runtime="python313",
        flexible=False,
        scaling="basic",
        entrypoint="gunicorn main:app",
        logins=(login,),
        faults=(),
    )


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("runtime: python313\n", "service", "default"),
        ("runtime: python313\nmodule: old\n", "service", "old"),
        ("runtime: python313\nservice: 010\n", "service", "010"),
        ("runtime: python313\nservice: ~\n", "service", "default"),
        ("runtime: python313\n", "scaling", "automatic"),
        ("runtime: python313\nmanual_scaling: {instances: 1}\n", "scaling", "manual"),
        ("runtime: python313\nautomatic_scaling: {}\n", "scaling", "automatic"),
        ("runtime: python\nenv: flex\n", "flexible", True),
        ("runtime: python\nenv: flexible\n", "flexible", True),
        ("runtime: python\nvm: true\n", "flexible", True),
        ("runtime: python\nenv: standard\n", "flexible", False),
        ("runtime: python\nentrypoint: [a]\n", "entrypoint", None),
        ("runtime: python\nruntime: go\n[a]: b\n", "runtime", "python"),
    ],
)
def test_one_value(text: str, key: str, value: object) -> None:
    assert getattr(app(text), key) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "abc\n",
        "- a\n",
        "cron:\n",
        "dispatch: []\n",
        "handlers: []\n",
        "runtime:\n",
        "runtime: nodejs\nname: my action\nsteps: []\n",
        "<xml/>",
        "\0",
    ],
)
def test_another_kind_of_file_is_no_app_yaml(text: str) -> None:
    assert load_app(text, "f") is None


def test_a_broken_app_yaml_tells_its_fault() -> None:
    broken = app("runtime: python313\nservice: a\nhandlers:\n- url: /a: b\n")
    assert [one.code for one in broken.faults] == ["yaml-colon"]
    assert broken.service == "a"
