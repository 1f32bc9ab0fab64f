"""The composition root: who is given what, and nothing else."""
