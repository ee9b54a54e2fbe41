"""The move itself, entry by entry: from the legacy job to ours, and back.

    observe ──> decide one step an entry ──> show it ──> do it ──> observe again

Nothing is remembered between two steps but the backup: what is there decides. So a
run may end anywhere, and the next one, of `cutover` or of `rollback`, goes on.

`start`     the files' entries, what the app serves, what answers there
`seen`      what is observed of one entry, and what may be decided: values
`ways`      overlap, hand-over or gap: which one, and why
`quiet`     whether an entry's job is at rest
`onward`    the next step of `cutover`         (pure)
`back`      the next step of `rollback`        (pure)
`observe`   from lists of jobs to values       (pure)
`backup`    legacy jobs as they were: a file that only grows
`carry`     one step, done on the job store
`run`       the loop
`lists`     jobs.yaml and cron.yaml, their texts parted anew
`parting`   which entries go from one list to the other at the end
`files`     the edge: the backup and both lists on the disk
"""
