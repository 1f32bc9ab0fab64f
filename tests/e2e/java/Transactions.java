import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The transactional producer of the Java client: a line of tab-separated fields with the verb in
 * front gives "ok" and a result, a refusal, or what went wrong. See
 * tests/e2e/transactions/lines.py.
 */
public final class Transactions {
  static final Duration PATIENCE = Duration.ofSeconds(30);

  static final Map<String, KafkaProducer<String, String>> producers = new HashMap<>();
  static final Map<String, KafkaConsumer<String, String>> consumers = new HashMap<>();

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      System.out.println(response(line.split("\t")));
      System.out.flush();
    }
  }

  static String response(String[] fields) {
    try {
      List<String> found = run(fields[0], fields[1], fields);
      return found.isEmpty() ? "ok" : "ok\t" + String.join("\t", found);
    } catch (ProducerFencedException | InvalidProducerEpochException fenced) {
      return "fenced\t" + fenced;
    } catch (InvalidTxnStateException timedOut) {
      return "invalid state\t" + timedOut;
    } catch (Exception failure) {
      failure.printStackTrace();
      return "failed\t" + failure.toString().replace('\n', ' ');
    }
  }

  static List<String> run(String verb, String bootstrap, String[] fields) throws Exception {
    KafkaProducer<String, String> producer = producers.get(fields[2]);
    switch (verb) {
      case "producer" -> start(bootstrap, fields[2], fields[3], fields[4]);
      case "begin" -> producer.beginTransaction();
      case "send" -> send(producer, fields);
      case "send_offsets" -> sendOffsets(producer, consumers.get(fields[3]));
      case "commit" -> producer.commitTransaction();
      case "abort" -> producer.abortTransaction();
      case "consumer" -> {
        KafkaConsumer<String, String> consumer =
            consumer(bootstrap, "read_committed", Map.of("group.id", fields[3]));
        consumers.put(fields[2], consumer);
        consumer.subscribe(List.of(fields[4]));
        return take(consumer, Integer.parseInt(fields[5]));
      }
      case "close" -> consumers.remove(fields[2]).close();
      case "read" -> {
        int partitions = Integer.parseInt(fields[5]);
        try (KafkaConsumer<String, String> consumer = consumer(bootstrap, fields[4], Map.of())) {
          consumer.assign(
              IntStream.range(0, partitions)
                  .mapToObj(index -> new TopicPartition(fields[2], index))
                  .toList());
          return take(consumer, Integer.parseInt(fields[3]));
        }
      }
      default -> throw new IllegalArgumentException(verb);
    }
    return List.of();
  }

  static void start(String bootstrap, String name, String transactionalId, String timeoutMs) {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers", bootstrap,
            "transactional.id", transactionalId,
            "transaction.timeout.ms", timeoutMs);
    KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    KafkaProducer<String, String> before = producers.put(name, producer);
    if (before != null) {
      before.close(Duration.ZERO);
    }
    producer.initTransactions();
  }

  static void send(KafkaProducer<String, String> producer, String[] fields)
      throws ExecutionException, InterruptedException {
    List<Future<?>> sent = new ArrayList<>();
    for (int i = 5; i < fields.length; i++) {
      int partition = Integer.parseInt(fields[4]);
      sent.add(producer.send(new ProducerRecord<>(fields[3], partition, null, fields[i])));
    }
    producer.flush();
    for (Future<?> report : sent) {
      report.get();
    }
  }

  static void sendOffsets(
      KafkaProducer<String, String> producer, KafkaConsumer<String, String> consumer) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (TopicPartition one : consumer.assignment()) {
      offsets.put(one, new OffsetAndMetadata(consumer.position(one)));
    }
    producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
  }

  static KafkaConsumer<String, String> consumer(
      String bootstrap, String level, Map<String, Object> settings) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put("bootstrap.servers", bootstrap);
    all.put("isolation.level", level);
    all.put("auto.offset.reset", "earliest");
    all.put("enable.auto.commit", false);
    all.put("fetch.max.wait.ms", 100);
    return new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer());
  }

  static List<String> take(KafkaConsumer<String, String> consumer, int count) {
    List<String> found = new ArrayList<>();
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (found.size() < count && System.nanoTime() < end) {
      consumer.poll(Duration.ofSeconds(1)).forEach(record -> found.add(record.value()));
    }
    return found;
  }
}
