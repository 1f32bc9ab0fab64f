import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** A producer with its defaults: "start BOOTSTRAP TOPIC PARTITIONS", and then "stop". */
public class Producing extends Thread {
  final Properties properties = new Properties();
  final String topic;
  final int partitions;
  final List<String> errors = new CopyOnWriteArrayList<>();
  volatile boolean stopped;
  int sent;

  Producing(String bootstrap, String topic, int partitions) {
    properties.put("bootstrap.servers", bootstrap);
    properties.put("key.serializer", StringSerializer.class);
    properties.put("value.serializer", StringSerializer.class);
    this.topic = topic;
    this.partitions = partitions;
  }

  @Override
  public void run() {
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties)) {
      while (!stopped) {
        String value = "java:" + sent;
        producer.send(
            new ProducerRecord<>(topic, sent++ % partitions, null, value),
            (place, error) -> {
              if (error != null) {
                errors.add(error.toString());
              }
            });
        Thread.sleep(5);
      }
    } catch (Exception failure) {
      errors.add(failure.toString());
    }
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    Producing producing = null;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] parts = line.split("\t");
      if (parts[0].equals("start")) {
        producing = new Producing(parts[1], parts[2], Integer.parseInt(parts[3]));
        producing.start();
        System.out.println("ok");
      } else {
        producing.stopped = true;
        producing.join();
        StringBuilder errors = new StringBuilder();
        for (String error : producing.errors) {
          errors.append(errors.length() > 0 ? ", " : "");
          errors.append('"').append(error.replace('"', '\'').replace('\n', ' ')).append('"');
        }
        System.out.printf("{\"sent\": %d, \"errors\": [%s]}%n", producing.sent, errors);
      }
    }
  }
}
