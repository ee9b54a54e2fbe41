"""What cron.yaml, dispatch.yaml and their schedules mean. Pure: text in, values out."""
