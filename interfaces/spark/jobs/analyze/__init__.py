"""`ottla spark analyze`: what topics hold, from one reading of them.

analysis.py   the job: which source, which topics        counting.py   its queries over the records
keys.py       its queries over keys                      forecast.py   the disk space needed
result.py     the figures as JSON                        lines.py page.py   the same for people
"""
