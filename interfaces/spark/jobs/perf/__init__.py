"""ottla spark perf: Spark tasks that produce and consume at once, and check every record.

workload.py    the parameters, by the names of OpenMessaging's benchmarks
plan.py        the task of each producer and consumer
clients.py     settings of the clients
records.py     the bytes of a record: run, producer, number, time and a checksum
producing.py consuming.py    a task each, in Spark's workers     running.py    all of them at once
topics.py      the topics of a run, deleted at its end
checking.py received.py      lost, duplicated, out of order, corrupt
tally.py       what a task counts
result.py report.py comparing.py    the result as JSON, as lines and a page, beside an earlier one
"""
