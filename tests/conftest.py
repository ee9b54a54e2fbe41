"""Says loudly, at the end, what could not be tested on this machine.

Laws are tested without a clock: how long an example takes says how busy the machine is.
In CI they are tested on the same examples each time, elsewhere on ever new ones.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("house")

_NOT_TESTED = "NOT TESTED:"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> None:
    reasons = {
        str(report.longrepr[2])
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple) and _NOT_TESTED in report.longrepr[2]
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(reason, red=True, bold=True)
