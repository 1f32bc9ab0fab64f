"""What the commands of `ottla ...` have in common, whichever package they are in.

words.py      options that many have           values.py     what options take
durations.py  30s, 5m, 500ms                   progress.py   a line that moves
endings.py    exit codes, and the line with the reason
addresses.py  brokers' addresses               reachable.py  whether anybody listens there
client_errors.py  what the Kafka client says of a failure

A library: it imports the standard library only, and nothing else of Ottla.
"""
