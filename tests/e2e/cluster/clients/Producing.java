import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A producer: "start BOOTSTRAP TOPIC PARTITIONS NAME [SETTING=VALUE ...]", and then "stop". Its values
 * are NAME:NUMBER, to each partition in turn. With settings it prints PARTITION OFFSET VALUE of each
 * record that was acknowledged, as a line.
 */
public class Producing extends Thread {
  final Properties properties = new Properties();
  final String topic;
  final int partitions;
  final String name;
  final boolean reports;
  final List<String> errors = new CopyOnWriteArrayList<>();
  volatile boolean stopped;
  int sent;

  Producing(String[] parts) {
    properties.put("bootstrap.servers", parts[1]);
    properties.put("key.serializer", StringSerializer.class);
    properties.put("value.serializer", StringSerializer.class);
    topic = parts[2];
    partitions = Integer.parseInt(parts[3]);
    name = parts[4];
    reports = parts.length > 5;
    for (int i = 5; i < parts.length; i++) {
      String[] setting = parts[i].split("=", 2);
      properties.put(setting[0], setting[1]);
    }
  }

  @Override
  public void run() {
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties)) {
      while (!stopped) {
        String value = name + ":" + sent;
        producer.send(
            new ProducerRecord<>(topic, sent++ % partitions, null, value),
            (place, error) -> {
              if (error != null) {
                errors.add(value + ": " + error);
              } else if (reports) {
                System.out.println(place.partition() + "\t" + place.offset() + "\t" + value);
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
        producing = new Producing(parts);
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
