"""What an unquoted YAML word means: text, a number, a boolean, a date or nothing.

gcloud reads App Engine's files as YAML 1.1 with ruamel.yaml, whose rules are not
PyYAML's: `y` and `n` are booleans, `1e3` is a number, `010` is eight and `12:30` is
750. A file may ask for YAML 1.2 by a `%YAML 1.2` line; then fewer words are special.
(ruamel/yaml/resolver.py, implicit_resolvers, and constructor.py, SafeConstructor, as
bundled with the Cloud SDK.)
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

Value = str | bool | int | float | date | None
"""What a scalar means."""

_PREFIX: Final = "tag:yaml.org,2002:"
_BOOLS: Final = {
    word: word in {"y", "yes", "true", "on"}
    for word in "y yes true on n no false off".split()
}
_NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL_11: Final = re.compile(
    r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE"
    r"|on|On|ON|off|Off|OFF"
)
_BOOL_12: Final = re.compile(r"true|True|TRUE|false|False|FALSE")
_FLOAT_11: Final = re.compile(
    r"""[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
      | [-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
      | \.[0-9_]+(?:[eE][-+][0-9]+)?
      | [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
      | [-+]?\.(?:inf|Inf|INF)
      | \.(?:nan|NaN|NAN)""",
    re.VERBOSE,
)
_FLOAT_12: Final = re.compile(
    r"""[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
      | [-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
      | [-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?
      | [-+]?\.(?:inf|Inf|INF)
      | \.(?:nan|NaN|NAN)""",
    re.VERBOSE,
)
_INT_11: Final = re.compile(
    r"""[-+]?0b[0-1_]+ | [-+]?0?[0-7_]+ | [-+]?(?:0|[1-9][0-9_]*)
      | [-+]?0x[0-9a-fA-F_]+ | [-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+""",
    re.VERBOSE,
)
_INT_12: Final = re.compile(
    r"[-+]?0b[0-1_]+ | [-+]?0o?[0-7_]+ | [-+]?[0-9_]+ | [-+]?0x[0-9a-fA-F_]+",
    re.VERBOSE,
)
_TIMESTAMP: Final = re.compile(
    r"""([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})
        (?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]*))?
           (?:[ \t]*(?:Z|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?)?""",
    re.VERBOSE,
)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def plain(text: str, *, yaml_1_2: bool = False) -> Value:
    """Give what an unquoted word without a tag means.

    Raises ValueError for a date that does not exist and the like.

    >>> plain("on"), plain("010"), plain("every day 00:00")
    (True, 8, 'every day 00:00')
    """
    if text in _NULLS:
        return None
    if not text.isascii() or text[0] not in "yYnNtTfFoO-+0123456789.=<":
        return text
    if (_BOOL_12 if yaml_1_2 else _BOOL_11).fullmatch(text):
        return _BOOLS[text.lower()]
    if text[0] in "-+0123456789.":
        return _number_or_date(text, yaml_1_2=yaml_1_2)
    if text in {"=", "<<"}:
        raise ValueError(f"a bare {text} stands for no value in YAML 1.1: quote it")
    return text


def _number_or_date(text: str, *, yaml_1_2: bool) -> Value:
    if (_FLOAT_12 if yaml_1_2 else _FLOAT_11).fullmatch(text):
        return _float(text, yaml_1_2=yaml_1_2)
    # `_1` looks like an octal number, but no number starts so.
    if text[0] != "." and (_INT_12 if yaml_1_2 else _INT_11).fullmatch(text):
        return _int(text, yaml_1_2=yaml_1_2)
    found = _TIMESTAMP.fullmatch(text)
    if found and (found[4] is not None or _DAY.fullmatch(text)):
        return _timestamp(found)
    return text


def tagged(text: str, tag: str, *, yaml_1_2: bool = False) -> Value:
    """Give what a scalar with an explicit tag means.

    Raises ValueError where tag and text do not go together, and for tags that
    gcloud's loader, or this one, does not know.
    """
    read: Callable[[], Value] | None = {
        "str": lambda: text,
        "null": lambda: None,
        "bool": lambda: _bool(text),
        "int": lambda: _int(text, yaml_1_2=yaml_1_2),
        "float": lambda: _float(text, yaml_1_2=yaml_1_2),
    }.get(tag.removeprefix(_PREFIX))
    if read is None:
        raise ValueError(
            f"the YAML tag {tag!r} has no meaning here; a value that starts with '!' "
            "needs quotes"
        )
    return read()


def _bool(text: str) -> bool:
    if text.lower() not in _BOOLS:
        raise ValueError(f"{text!r} is not true or false")
    return _BOOLS[text.lower()]


def _split_sign(text: str) -> tuple[int, str]:
    text = text.replace("_", "").lower()
    sign = -1 if text.startswith("-") else 1
    return sign, text[1:] if text[:1] in {"-", "+"} else text


def _int(text: str, *, yaml_1_2: bool) -> int:
    sign, digits = _split_sign(text)
    try:
        if digits[:2] in {"0b", "0x", "0o"}:
            return sign * int(digits[2:], {"b": 2, "x": 16, "o": 8}[digits[1]])
        if yaml_1_2:
            return sign * int(digits)
        if len(digits) > 1 and digits[0] == "0":
            return sign * int(digits, 8)
        value = 0
        for part in digits.split(":"):
            value = 60 * value + int(part)
        # str() refuses what int() put together from parts.
        return sign * (value if abs(value) < _TOO_BIG else int(str(value)))
    except ValueError:
        raise ValueError(f"{_short(text)} is not a whole number") from None


_TOO_BIG: Final = 10**400


def _float(text: str, *, yaml_1_2: bool) -> float:
    sign, digits = _split_sign(text)
    try:
        if digits in {".inf", ".nan"}:
            return sign * float(digits[1:])
        if not yaml_1_2 and ":" in digits:
            value = 0.0
            for part in digits.split(":"):
                value = 60.0 * value + float(part)
            return sign * value
        return sign * float(digits)
    except ValueError:
        raise ValueError(f"{_short(text)} is not a number") from None


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _timestamp(found: re.Match[str]) -> date:
    """Give the date, or the time in UTC. Raises ValueError if there is none."""
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    try:
        if found[4] is None:
            return date(year, month, day)
        hour, minute, second = int(found[4]), int(found[5]), int(found[6])
        micro = int(((found[7] or "") + "000000")[:6])
        # Like ruamel.yaml, without a zone: the time in UTC.
        local = datetime(year, month, day, hour, minute, second, micro)  # noqa: DTZ001 - see above
        if found[8] is None:
            return local
        offset = timedelta(hours=int(found[9]), minutes=int(found[10] or 0))
        return local - offset if found[8] == "+" else local + offset
    except (ValueError, OverflowError):
        raise ValueError(f"{found[0]!r} looks like a date, and is none") from None
