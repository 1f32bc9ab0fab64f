import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A line is a properties file, a topic and a size: produces records and reads them back. */
public class AnyListener {
    static final int RECORDS = 20;

    public static void main(String[] words) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split(" ");
            String found;
            try {
                found = "ok " + roundTrip(parts[0], parts[1], Integer.parseInt(parts[2]));
            } catch (Throwable failure) {
                Throwable cause = failure.getCause() == null ? failure : failure.getCause();
                found = cause.getClass().getSimpleName() + " " + cause.getMessage();
            }
            System.out.println(found.replace('\n', ' '));
            System.out.flush();
        }
    }

    static int roundTrip(String file, String topic, int size) throws Exception {
        Properties properties = new Properties();
        try (FileReader reader = new FileReader(file)) {
            properties.load(reader);
        }
        try (var producer = new KafkaProducer<byte[], byte[]>(
                properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < RECORDS; i++) {
                producer.send(new ProducerRecord<>(topic, 0, null, new byte[size])).get();
            }
        }
        int read = 0;
        try (var consumer = new KafkaConsumer<byte[], byte[]>(
                properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            var partition = List.of(new TopicPartition(topic, 0));
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            while (read < RECORDS) {
                for (var record : consumer.poll(Duration.ofSeconds(10))) {
                    if (record.value().length != size) throw new IllegalStateException("size");
                    read++;
                }
            }
        }
        return read;
    }
}
