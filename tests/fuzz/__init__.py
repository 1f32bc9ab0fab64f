"""Hostile bytes over whole connections, by a seed; see docs/internals/testing.md, Fuzzing.

scripts/fuzz --rounds 1000 --from 0     plays them, and says how fast
scripts/fuzz --seed 17                  one round again; shrinks and shows what fails
"""
