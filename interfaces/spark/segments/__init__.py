"""The data source `ottla-segments`: a data folder, with or without a running broker.

sources.py    the interface of Spark     options.py   its options
planning.py   the ranges of a query      reading.py   a range, batch by batch
records.py    records as numpy columns   arrays.py    numpy columns as Arrow arrays
"""
