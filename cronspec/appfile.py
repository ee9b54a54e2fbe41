"""What is needed of an app.yaml: the service, how it scales, and its logins.

An app.yaml is gcloud's to check; here nothing of it is refused but what is no YAML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cronspec.faults import Report
from cronspec.nodes import Mapping, Scalar, Sequence
from cronspec.tree import read

if TYPE_CHECKING:
    from cronspec.faults import Fault, Place
    from cronspec.nodes import Node


@dataclass(frozen=True, slots=True)
class LoginHandler:
    """A handler of app.yaml with a `login:`; `url` is its pattern."""

    url: str
    login: str
    place: Place


@dataclass(frozen=True, slots=True)
class AppFile:
    """What is needed of an app.yaml. `scaling` is automatic, basic or manual."""

    file: str
    service: str
    runtime: str
    flexible: bool
    scaling: str
    entrypoint: str | None
    logins: tuple[LoginHandler, ...]
    faults: tuple[Fault, ...]


_FLEXIBLE: Final = frozenset(("flex", "flexible", "2"))
# What only an app.yaml has; `runtime` or `env` alone may be any YAML's.
_SIGNS: Final = frozenset(
    "service module handlers entrypoint instance_class automatic_scaling "
    "basic_scaling manual_scaling env_variables inbound_services runtime_config "
    "beta_settings threadsafe api_version app_engine_apis vm default_expiration "
    "liveness_check readiness_check resources network vpc_access_connector "
    "service_account error_handlers libraries includes skip_files builtins".split()
)


def load_app(text: str, file: str) -> AppFile | None:
    """Read an app.yaml; None where the text is none (another kind of YAML)."""
    report = Report()
    tree = read(text, file, report)
    top = tree.documents[0] if tree.documents else None
    if not isinstance(top, Mapping):
        return None
    values = _values(top)
    runtime = _word(values.get("runtime"))
    env = _word(values.get("env"))
    flexible = env in _FLEXIBLE or _word(values.get("vm")) == "true"
    only_runtime = values.keys() <= {"runtime", "env", "version"}
    if not runtime or not (only_runtime or _SIGNS & values.keys()):
        return None
    return AppFile(
        file=file,
        service=_word(values.get("service"))
        or _word(values.get("module"))
        or "default",
        runtime=runtime,
        flexible=flexible,
        scaling=_scaling(values),
        entrypoint=_word(values.get("entrypoint")) or None,
        logins=tuple(_logins(values.get("handlers"))),
        faults=report.faults(),
    )


def _values(mapping: Mapping) -> dict[str, Node]:
    """Give a mapping's values by key; of a key given twice the first."""
    values: dict[str, Node] = {}
    for key, value in mapping.pairs:
        if isinstance(key, Scalar):
            values.setdefault(key.text, value)
    return values


def _word(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) and node.value is not None else ""


def _scaling(values: dict[str, Node]) -> str:
    for kind in ("manual", "basic"):
        if f"{kind}_scaling" in values:
            return kind
    return "automatic"


def _logins(handlers: Node | None) -> list[LoginHandler]:
    logins = []
    for handler, dash in handlers.items if isinstance(handlers, Sequence) else ():
        if isinstance(handler, Mapping):
            values = _values(handler)
            login = _word(values.get("login"))
            if login:
                logins.append(LoginHandler(_word(values.get("url")), login, dash))
    return logins
