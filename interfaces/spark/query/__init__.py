"""What both data sources share: options, filters and ranges of a query.

options.py      names and values of options       partitions_json.py  JSON in them
assignment.py   which partitions are read         bounds.py           first and last offsets
ranges.py       the ranges that tasks read        filters.py          pushed-down filters
reader.py       the batch reader that Spark calls
"""
