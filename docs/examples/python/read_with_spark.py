# in the checkout: pip install '.[spark]'
import os
import sys

from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable  # Spark's workers run this Python, not another one
spark = SparkSession.builder.getOrCreate()
letters = (
    spark.read.format("ottla")
    .option("kafka.bootstrap.servers", "localhost:9092")
    .option("subscribe", "letters")
    .load()
)
letters.selectExpr("partition", "offset", "string(value)").show(truncate=False)
