"""ottla spark perf: Spark tasks that produce and consume at once, and check what came.

workload.py    what is asked for, in the words of OpenMessaging's benchmarks
plan.py        which task does what
clients.py     settings of the clients
records.py     the bytes of a record: who sent it, which it is, when, and a checksum
producing.py consuming.py    a task each, in Spark's workers     running.py    all of them at once
reach.py       when a broker is given up
topics.py      of its own, and removed again
checking.py seen.py    lost, doubled, out of order, spoiled
result.py report.py comparing.py    what is told
"""
