"""docs/audit.md and the table of codes say the same."""

from __future__ import annotations

import re
from pathlib import Path

from migrate.audit import CODES

PAGE = Path(__file__).parents[3] / "docs/audit.md"
ROW = re.compile(r"^\| `([\w-]+)` \| (\w+) \| (.+) \|$", re.MULTILINE)


def test_the_page_lists_every_code_once_with_its_severity_and_reason() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    known = [(name, str(code.severity), code.reason) for name, code in CODES.items()]
    assert sorted(rows) == sorted(known)
