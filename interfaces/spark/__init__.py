"""The data pipeline on Spark: two data sources, and the jobs of `ottla spark ...`.

    ottla             topics of any Kafka broker, read and written over the wire
    ottla-segments    a data folder of Ottla, read without its broker

pyspark, pyarrow and numpy are an extra; other processes do not import this package.
"""
