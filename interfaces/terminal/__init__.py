"""Common parts of the commands of `ottla`, in all packages.

words.py      commands, common options         values.py     types of options
durations.py  30s, 5m, 500ms                   progress.py   a progress line
endings.py    exit codes, the line on stderr   tls.py        does a port speak TLS
addresses.py  addresses of brokers             reachable.py  does a port accept connections
client_errors.py  errors of librdkafka as text
profiles.py   named clusters; the servers and client options of a command

A library: it imports the standard library only, and nothing else of Ottla.
"""
