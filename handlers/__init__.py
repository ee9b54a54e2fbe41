"""Each scheduled tick becomes one run: the App Engine service."""
