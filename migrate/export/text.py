"""What the exports share: quoted strings, unique names, and what cannot be said."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from migrate.job import to_api

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from migrate.job import Job

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class ExportError(ValueError):
    """A job holds what a format cannot say; the message names every such value."""


def quoted(text: str) -> str:
    r"""Give a string in double quotes, as YAML and HCL both read it.

    Whatever is not printable is escaped by number: line separators, for one, which
    YAML would fold.

    >>> print(quoted('say "é"\n'), quoted("\x85\U0001f600\U000e0001"))
    "say \"é\"\n" "\u0085😀\U000e0001"
    """
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def unique_names(ids: Iterable[str], clean: Callable[[str], str]) -> dict[str, str]:
    """Give each id a name in a narrower alphabet; no two are equal.

    Ids that only differ in what `clean` drops are told apart by a hash, so that a
    name depends on no order.

    >>> unique_names(["a-1", "b-1", "b_1"], lambda i: i.replace("-", "_"))
    {'a-1': 'a_1', 'b-1': 'b_1_3e499e75', 'b_1': 'b_1_74bf6dae'}
    """
    cleaned = {one: clean(one) for one in ids}
    sharing = Counter(cleaned.values())
    return {
        one: name if sharing[name] == 1 else clean(f"{name}_{_digest(one)}")
        for one, name in cleaned.items()
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def refuse(jobs: Sequence[Job], unsayable: Callable[[str], str | None]) -> None:
    """Raise ExportError if a text in a job cannot be said in the format.

    `unsayable` gives the reason and way out, or None; half characters (surrogates,
    which YAML's escapes let through) are refused for every format.
    """
    faults = [
        f"job {job.name.job_id}: {where} {text!r}: {reason}"
        for job in jobs
        for where, text in _texts("", to_api(job))
        if (reason := _half_character(text) or unsayable(text)) is not None
    ]
    if faults:
        raise ExportError("\n".join(faults))


def _half_character(text: str) -> str | None:
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "half a character (a lone surrogate); write the whole one"
    return None


def _texts(where: str, value: Any) -> Iterator[tuple[str, str]]:
    """Give every text in a job's JSON with the path of its field, keys included."""
    match value:
        case str():
            yield where, value
        case dict():
            for key, part in value.items():
                yield where, key
                yield from _texts(f"{where}.{key}" if where else key, part)
        case _:
            return
