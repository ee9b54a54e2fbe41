"""The entries of cron.yaml as Cloud Scheduler jobs: audit, translate, prove."""
