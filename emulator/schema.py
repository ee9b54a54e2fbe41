"""The shape of a Job in the API: its fields, how they are read, and update masks.

Reads what clients send as Google's servers do (proto3 JSON): snake_case names too,
enums by name or number, null as absent, no zero values kept, durations in canonical
spelling, unknown fields refused by name, output-only ones passed over.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from emulator.errors import Json, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Kind(Enum):
    """What a field that is no message holds."""

    TEXT = "TYPE_STRING"
    NUMBER = "TYPE_INT32"
    FLAG = "TYPE_BOOL"
    DURATION = "type.googleapis.com/google.protobuf.Duration"
    BYTES = "TYPE_BYTES"
    METHOD = "type.googleapis.com/google.cloud.scheduler.v1.HttpMethod"
    TEXTS = "map<string, string>"
    OUTPUT = "output only"


@dataclass(frozen=True, slots=True)
class Message:
    """A message's fields by their JSON names."""

    fields: Mapping[str, Kind | Message]


_RETRY: Final = Message(
    {
        "retryCount": Kind.NUMBER,
        "maxRetryDuration": Kind.DURATION,
        "minBackoffDuration": Kind.DURATION,
        "maxBackoffDuration": Kind.DURATION,
        "maxDoublings": Kind.NUMBER,
    }
)
_APP_ENGINE: Final = Message(
    {
        "httpMethod": Kind.METHOD,
        "appEngineRouting": Message(
            {
                "service": Kind.TEXT,
                "version": Kind.TEXT,
                "instance": Kind.TEXT,
                "host": Kind.OUTPUT,
            }
        ),
        "relativeUri": Kind.TEXT,
        "headers": Kind.TEXTS,
        "body": Kind.BYTES,
    }
)
_HTTP: Final = Message(
    {
        "uri": Kind.TEXT,
        "httpMethod": Kind.METHOD,
        "headers": Kind.TEXTS,
        "body": Kind.BYTES,
        "oauthToken": Message({"serviceAccountEmail": Kind.TEXT, "scope": Kind.TEXT}),
        "oidcToken": Message({"serviceAccountEmail": Kind.TEXT, "audience": Kind.TEXT}),
    }
)
_PUBSUB: Final = Message(
    {"topicName": Kind.TEXT, "data": Kind.BYTES, "attributes": Kind.TEXTS}
)
TARGETS: Final = ("appEngineHttpTarget", "httpTarget", "pubsubTarget")
JOB_V1: Final = Message(
    {
        "name": Kind.TEXT,
        "description": Kind.TEXT,
        "appEngineHttpTarget": _APP_ENGINE,
        "httpTarget": _HTTP,
        "pubsubTarget": _PUBSUB,
        "schedule": Kind.TEXT,
        "timeZone": Kind.TEXT,
        "retryConfig": _RETRY,
        "attemptDeadline": Kind.DURATION,
        "userUpdateTime": Kind.OUTPUT,
        "state": Kind.OUTPUT,
        "status": Kind.OUTPUT,
        "scheduleTime": Kind.OUTPUT,
        "lastAttemptTime": Kind.OUTPUT,
    }
)
JOB_V1BETA1: Final = Message({**JOB_V1.fields, "legacyAppEngineCron": Kind.FLAG})

_IMMUTABLE: Final = (("name",), ("legacyAppEngineCron",))
_METHODS: Final = tuple(
    "HTTP_METHOD_UNSPECIFIED POST GET HEAD PUT DELETE PATCH OPTIONS".split()
)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)


def read(message: Message, value: object, at: str) -> Json:
    """Read a message as a client sent it; `at` is its place. Raises ApiError."""
    if not isinstance(value, dict):
        raise invalid(f"Invalid value at '{at}', {value!r}")
    result: Json = {}
    for given, item in value.items():
        name = _camel(given)
        kind = message.fields.get(name)
        if kind is None:
            raise invalid(
                f'Invalid JSON payload received. Unknown name "{given}" at '
                f"'{at}': Cannot find field."
            )
        if item is None or kind is Kind.OUTPUT:
            continue
        if isinstance(kind, Message):
            result[name] = read(kind, item, f"{at}.{name}")
        elif found := _read_kind(kind, item, f"{at}.{name}"):
            result[name] = found
    return result


def _read_kind(
    kind: Kind, value: object, at: str
) -> str | int | bool | dict[str, str] | None:
    """Read a field's value; None where it has none of its kind's."""
    found = _value(kind, value)
    if found is None:
        raise invalid(f"Invalid value at '{at}' ({kind.value}), {value!r}")
    return found


def _value(kind: Kind, value: object) -> str | int | bool | dict[str, str] | None:
    match kind, value:
        case Kind.TEXT, str():
            return value
        case Kind.FLAG, bool():
            return value
        case Kind.NUMBER, int() if not isinstance(value, bool):
            return value
        case Kind.NUMBER, str() if re.fullmatch(r"-?\d{1,10}", value):
            return int(value)
        case Kind.METHOD, str() | int() if not isinstance(value, bool):
            return _method(value)
        case Kind.DURATION, str():
            return _duration(value)
        case Kind.BYTES, str():
            return _bytes(value)
        case Kind.TEXTS, dict() if all(isinstance(v, str) for v in value.values()):
            return dict(value)
    return None


def _method(value: str | int) -> str | None:
    """Give the name of an HttpMethod; "" for the unspecified one."""
    if isinstance(value, int):
        name = _METHODS[value] if 0 <= value < len(_METHODS) else None
    else:
        name = value if value in _METHODS else None
    return "" if name == _METHODS[0] else name


def _bytes(value: str) -> str | None:
    padded = value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4)
    try:
        return base64.b64encode(base64.b64decode(padded, validate=True)).decode()
    except binascii.Error:
        return None


def _duration(value: str) -> str | None:
    """Spell a duration as servers do: with 0, 3, 6 or 9 digits of a second."""
    found = re.fullmatch(r"(-?\d{1,12})(?:\.(\d{0,9}))?s", value)
    if found is None:
        return None
    digits = (found[2] or "").rstrip("0")
    digits += "0" * (-len(digits) % 3)
    return f"{int(found[1])}.{digits}s" if digits else f"{int(found[1])}s"


def seconds(duration: str) -> float:
    """Give a canonical duration in seconds."""
    return float(duration.removesuffix("s"))


def mask_paths(mask: str, message: Message) -> list[tuple[str, ...]]:
    """Read an update mask such as `schedule,retryConfig.retryCount`.

    Fields that clients may not change are passed over. Raises ApiError for an
    unknown one.
    """
    paths = []
    for text in filter(None, mask.split(",")):
        path = tuple(_camel(name) for name in text.split("."))
        kind: Kind | Message | None = message
        for name in path:
            kind = kind.fields.get(name) if isinstance(kind, Message) else None
        if kind is None:
            raise invalid(f"Invalid field mask: no field {text!r} in Job.")
        if kind is not Kind.OUTPUT and path not in _IMMUTABLE:
            paths.append(path)
    return paths


def masked(before: Json, sent: Json, paths: Sequence[tuple[str, ...]]) -> Json:
    """Give `before` with the named fields as they stand in `sent`, absent or not."""
    result = before
    for path in paths:
        result = _with_path(result, sent, path)
        if path[0] in TARGETS and path[0] in sent:  # one target displaces another
            result = {k: v for k, v in result.items() if k not in TARGETS} | {
                path[0]: result[path[0]]
            }
    return result


def _with_path(before: Json, sent: Json, path: tuple[str, ...]) -> Json:
    name, *rest = path
    result = dict(before)
    if rest:
        result[name] = _with_path(before.get(name, {}), sent.get(name, {}), tuple(rest))
        if not result[name] and name not in before:
            del result[name]
    elif name in sent:
        result[name] = sent[name]
    else:
        result.pop(name, None)
    return result
