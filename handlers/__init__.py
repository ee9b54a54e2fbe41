"""Each scheduled tick becomes one run: the App Engine service.

from handlers import Run, Tasks, create_app

tasks = Tasks()

@tasks.task("/tasks/summary")
def send_summary(run: Run) -> None: ...

app = create_app(tasks=tasks)
"""

from handlers.settings import Settings, SettingsError
from handlers.tasks import Run, Tasks
from handlers.version import VERSION as __version__  # noqa: N811 - its usual name
from handlers.web import create_app

__all__ = ["Run", "Settings", "SettingsError", "Tasks", "__version__", "create_app"]
