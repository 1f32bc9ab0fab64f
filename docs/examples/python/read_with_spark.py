# pip install '.[spark]'
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
letters = (
    spark.read.format("ottla")
    .option("kafka.bootstrap.servers", "localhost:9092")
    .option("subscribe", "letters")
    .load()
)
letters.selectExpr("partition", "offset", "string(value)").show(truncate=False)
