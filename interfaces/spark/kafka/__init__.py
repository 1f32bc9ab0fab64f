"""The data source `ottla`: topics of any Kafka broker, over the wire, through confluent-kafka."""
