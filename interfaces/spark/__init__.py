"""The data pipeline on Spark: two data sources, and jobs that are run by `ottla spark ...`.

    ottla             topics of any Kafka broker, read and written over the wire
    ottla-segments    a data folder of Ottla, read without its broker

Nothing here is imported by a process that does not use it; pyspark, pyarrow and numpy are an extra.
"""
