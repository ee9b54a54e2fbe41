"""Bytes of a file as text, or why they are none."""

from __future__ import annotations

import codecs
from typing import Final

from cronspec.faults import Fault, Place

_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(data: bytes, file: str) -> str | Fault:
    """Give a file's text, a byte order mark removed; a fault where it is no UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", errors="replace")
        last_line = before[before.rfind("\n") + 1 :]
        place = Place(file, before.count("\n") + 1, len(last_line) + 1)
        what = f"the byte 0x{data[error.start]:02X} is no UTF-8"
        if data.startswith(_UTF_16):
            what = "the file is in UTF-16"
        return Fault("not-utf-8", place, what, "save the file as UTF-8")
