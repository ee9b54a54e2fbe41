from __future__ import annotations
import json
from datetime import datetime,UTC
from itertools import islice
from pathlib import Path
from cronspec import groc, zones, schedule
def test_all():
    n=0
    for line in (Path(__file__).parents[1]/"cases/schedules.jsonl").read_text().splitlines():
        c=json.loads(line); n+=1
        if not c["ok"]: continue
        s=groc.parse(c["schedule"])
        if c["kind"] == "interval" and isinstance(s, schedule.EndTimeInterval): continue
        t=[x.isoformat() for x in islice(schedule.ticks(s,zones.load(c["timezone"] or "UTC"),datetime.fromisoformat(c["after"])),len(c["ticks"]))]
        assert t==c["ticks"],c
    print(n)
