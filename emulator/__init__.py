"""Cloud Scheduler and App Engine's cron on this machine, at the level of their API."""
