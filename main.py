"""The service: `gunicorn main:app`. Its tasks, by the urls of cron.yaml."""

import sys

from handlers import Run, SettingsError, Tasks, create_app
from handlers.log import JsonLog, Severity

GUNICORN_APP_LOAD_ERROR = 4  # gunicorn then stops, where it would start anew for ever

tasks = Tasks()


@tasks.task("/tasks/heartbeat")
@tasks.task("/tasks/rollup")
@tasks.task("/tasks/stock", overlap="skip")
@tasks.task("/tasks/summary")
@tasks.task("/tasks/cleanup")
@tasks.task("/tasks/invoices?kind=monthly")
@tasks.task("/tasks/statements")
@tasks.task("/tasks/quarter")
@tasks.task("/tasks/import")
def example(run: Run) -> None:
    """Stand in for the work: `str(run.id)` is the token that makes it repeatable."""
    JsonLog()(Severity.INFO, f"at work: {run.url}", run=str(run.id))


try:
    app = create_app(tasks=tasks)
except SettingsError as error:
    sys.stderr.write(f"cronshift cannot start:\n{error}\n")
    sys.exit(GUNICORN_APP_LOAD_ERROR)
