// java -cp 'libs/*' Capture.java ADDRESS TOPIC CODEC RECORDS: one batch with the Java producer.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.ArrayList;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

class Capture {
    public static void main(String[] args) throws Exception {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", args[0], "compression.type", args[2],
            "linger.ms", 1000, "batch.size", 1_000_000);
        var serializer = new ByteArraySerializer();
        try (var producer = new KafkaProducer<>(config, serializer, serializer)) {
            producer.partitionsFor(args[1]);
            for (JsonNode row : new ObjectMapper().readTree(new File(args[3]))) {
                var headers = new ArrayList<Header>();
                for (JsonNode header : row.get("headers"))
                    headers.add(new RecordHeader(header.get(0).asText(), header.get(1).binaryValue()));
                producer.send(new ProducerRecord<>(args[1], 0, row.get("timestamp").asLong(),
                    field(row.get("key")), field(row.get("value")), headers));
            }
        }
    }

    static byte[] field(JsonNode node) throws Exception {
        return node.isNull() ? null : node.binaryValue();
    }
}
