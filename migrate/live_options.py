"""Options that the commands on live jobs share."""

from __future__ import annotations

import click

only = click.option(
    "--only",
    multiple=True,
    metavar="URL",
    help="These entries alone (repeatable): no other job is made, changed or deleted.",
)
max_deletes = click.option(
    "--max-deletes",
    type=click.IntRange(0),
    metavar="N",
    help="Delete up to N jobs. Without it: one, or up to 30 % of them.",
)
paused = click.option(
    "--paused", is_flag=True, help="Make new jobs so that none fires before its resume."
)
moved_from = click.option(
    "--moved-from",
    multiple=True,
    metavar="ID",
    help="A region where jobs of this set lived before (repeatable): the API cannot "
    "move a job, so they are made anew here and deleted there.",
)
yes = click.option("--yes", is_flag=True, help="Do not ask.")
