import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Consumers with client.rack: "BOOTSTRAP TOPIC RACK ISOLATION COUNT" reads so many records of
 * partition 0 from its begin, with all other settings as they are by default, and gives the digest
 * of their values.
 */
public final class Racks {
  static final long PATIENCE_NS = 50_000_000_000L;

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String answer;
      try {
        answer = read(line.split("\t"));
      } catch (Exception failure) {
        failure.printStackTrace();
        answer = "failed: " + failure;
      }
      System.out.println(answer);
      System.out.flush();
    }
  }

  static String read(String[] fields) throws Exception {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", fields[0]);
    properties.put("client.rack", fields[2]);
    properties.put("isolation.level", fields[3]);
    properties.put("auto.offset.reset", "none");
    int count = Integer.parseInt(fields[4]);
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    long last = -1;
    int found = 0;
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      TopicPartition place = new TopicPartition(fields[1], 0);
      consumer.assign(List.of(place));
      consumer.seek(place, 0);
      long end = System.nanoTime() + PATIENCE_NS;
      while (found < count && System.nanoTime() < end) {
        for (ConsumerRecord<byte[], byte[]> one : consumer.poll(Duration.ofSeconds(1))) {
          if (one.offset() <= last) {
            return "went back from " + last + " to " + one.offset();
          }
          last = one.offset();
          found++;
          digest.update(one.value());
        }
      }
    }
    return found + " " + HexFormat.of().formatHex(digest.digest());
  }
}
