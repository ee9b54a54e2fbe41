"""cron.yaml, dispatch.yaml and app.yaml: text in, entries, rules and faults out.

The files are read from PyYAML's events, so that every value has its place, with the
strictness of gcloud's own loader and all faults of a file at once. This is the door:
`faults` has the places and the codes, `cronfile`, `dispatchfile` and `appfile` the
three languages, `tree`, `fields` and `vocabulary` what they share.
"""

from cronspec.appfile import AppFile, LoginHandler, load_app
from cronspec.cronfile import CronEntry, CronFile, Destination, load_cron
from cronspec.dispatchfile import DispatchFile, DispatchRule, load_dispatch
from cronspec.faults import FAULTS, REMARKS, Fault, Place, Remark
from cronspec.text import decode

__all__ = [
    "FAULTS",
    "REMARKS",
    "AppFile",
    "CronEntry",
    "CronFile",
    "Destination",
    "DispatchFile",
    "DispatchRule",
    "Fault",
    "LoginHandler",
    "Place",
    "Remark",
    "decode",
    "load_app",
    "load_cron",
    "load_dispatch",
]
