"""`ottla spark analyze`: what topics hold, from one reading of them.

analysis.py   the job: where it reads, and what it asks       counting.py   what a task counts
figures.py    these counts, joined in the order of offsets    batches.py    the same of batches
over_time.py  counts by time, in places that grow with it     keys.py       what is asked of keys
forecast.py   the room that will be needed                    result.py     all of it as JSON
lines.py page.py   the same for people
"""
