"""The data source `ottla-segments`: a data folder, read without its broker, or beside it.

sources.py    what Spark asks for        options.py   what may be said
planning.py   which offsets of which partitions are read: ranges, that executors share
reading.py    a range, batch by batch    records.py   records of batches as numpy columns
arrays.py     these as Arrow arrays
"""
