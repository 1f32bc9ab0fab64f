"""What a query wants of a log: the same words, and the same refusals, for both data sources.

options.py      names and values of options       partitions_json.py  JSON in them
assignment.py   which partitions are read         bounds.py           from where to where
ranges.py       what each task reads              filters.py          what filters leave of it
reader.py       a batch reader, as Spark asks it
"""
