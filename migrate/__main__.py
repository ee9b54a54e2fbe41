"""`python -m migrate`: the same as the command `cronshift`."""

from migrate.cli import main

main()
