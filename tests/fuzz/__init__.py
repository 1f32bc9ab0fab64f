"""Hostile bytes over whole connections, by a seed; see docs/testing.md, Fuzzing.

python -m tests.fuzz --rounds 1000 --from 0     plays them, and says how fast
python -m tests.fuzz --replay 17                one round again; shrinks and shows what fails
"""
