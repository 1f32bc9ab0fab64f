import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.ConsumerPerformance;
import org.apache.kafka.tools.EndToEndLatency;
import org.apache.kafka.tools.ProducerPerformance;

/**
 * Kafka's own measuring programs and a consumer with `assign`, in one process that stays warm. A
 * line in gives a line of JSON out:
 *
 * <pre>
 * produce BOOTSTRAP TOPIC RECORDS SIZE
 * consume BOOTSTRAP TOPIC BYTES
 * group BOOTSTRAP TOPIC RECORDS classic|consumer
 * latency BOOTSTRAP TOPIC RECORDS
 * </pre>
 */
public final class Clients {
  static final PrintStream ANSWERS = System.out;
  static final Pattern PRODUCED =
      Pattern.compile(
          "(\\d+) records sent, ([\\d.,]+) records/sec \\(([\\d.,]+) MB/sec\\), ([\\d.,]+) ms avg"
              + " latency, ([\\d.,]+) ms max latency, (\\d+) ms 50th, (\\d+) ms 95th, (\\d+) ms"
              + " 99th");
  /** MiB, MiB/s, records, records/s, ms until it had partitions, ms of fetching, its MiB/s. */
  static final Pattern CONSUMED =
      Pattern.compile(
          "([\\d.]+), ([\\d.]+), (\\d+), [\\d.]+, (\\d+), (\\d+), ([\\d.]+), [\\d.]+\\s*$");
  static final Pattern AVERAGE = Pattern.compile("Avg latency: ([\\d.,]+) ms");

  /** Instead of the end of this process. */
  static final class Ended extends RuntimeException {}

  interface Program {
    void run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    Locale.setDefault(Locale.ROOT);
    Exit.setExitProcedure(
        (code, message) -> {
          throw new Ended();
        });
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      ANSWERS.println(answer(line.split(" ")));
      ANSWERS.flush();
    }
  }

  static String answer(String[] words) {
    try {
      long number = Long.parseLong(words[3]);
      return switch (words[0]) {
        case "produce" -> produce(words[1], words[2], number, words[4]);
        case "consume" -> consume(words[1], words[2], number);
        case "group" -> group(words[1], words[2], number, words[4]);
        case "latency" -> latency(words[1], words[2], number);
        default -> throw new IllegalArgumentException(words[0]);
      };
    } catch (Throwable wrong) {
      return "{\"wrong\": \"" + wrong.toString().replaceAll("[^ -~]|[\"\\\\]", "'") + "\"}";
    }
  }

  static String produce(String bootstrap, String topic, long records, String size) {
    String said =
        said(
            () ->
                ProducerPerformance.main(
                    new String[] {
                      "--bootstrap-server", bootstrap,
                      "--topic", topic,
                      "--num-records", Long.toString(records),
                      "--record-size", size,
                      "--throughput", "-1",
                      "--command-property", "acks=all"
                    }));
    // Lines of progress look the same; the last line is about the whole.
    Matcher found = PRODUCED.matcher(said);
    double[] last = null;
    while (found.find()) {
      last = new double[] {number(found.group(1)), number(found.group(2)), number(found.group(8))};
    }
    if (last == null || last[0] != records) {
      throw new IllegalStateException(said);
    }
    double bytes = records * Double.parseDouble(size);
    double seconds = records / last[1];
    return String.format(
        "{\"mb\": %f, \"mb_per_s\": %f, \"requests_p99_ms\": %f}",
        bytes / 1e6, bytes / 1e6 / seconds, last[2]);
  }

  static String consume(String bootstrap, String topic, long size_bytes) {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers", bootstrap,
            "enable.auto.commit", false,
            "key.deserializer", ByteArrayDeserializer.class,
            "value.deserializer", ByteArrayDeserializer.class);
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
      List<TopicPartition> all = List.of(new TopicPartition(topic, 0));
      consumer.assign(all);
      long end = consumer.endOffsets(all).get(all.get(0));
      consumer.seekToBeginning(all);
      consumer.position(all.get(0));
      long bytes = 0;
      long started = System.nanoTime();
      while (bytes < size_bytes) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofSeconds(10));
        if (records.isEmpty()) {
          throw new IllegalStateException("nothing came for ten seconds");
        }
        long last = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
          bytes += record.value().length;
          last = record.offset();
        }
        if (last + 1 >= end) {
          consumer.seekToBeginning(all);
        }
      }
      double seconds = (System.nanoTime() - started) / 1e9;
      return String.format(
          "{\"mb\": %f, \"mb_per_s\": %f, \"seconds\": %f}",
          bytes / 1e6, bytes / 1e6 / seconds, seconds);
    }
  }

  /** Kafka's ConsumerPerformance: a new group reads the topic from its beginning. */
  static String group(String bootstrap, String topic, long records, String protocol) {
    String said =
        said(
            () ->
                ConsumerPerformance.main(
                    new String[] {
                      "--bootstrap-server", bootstrap,
                      "--topic", topic,
                      "--num-records", Long.toString(records),
                      "--hide-header",
                      "--command-property", "group.protocol=" + protocol
                    }));
    Matcher found = CONSUMED.matcher(said);
    if (!found.find() || number(found.group(3)) < records) {
      throw new IllegalStateException(said);
    }
    double mb = number(found.group(1)) * 1.048576;
    return String.format(
        "{\"mb\": %f, \"mb_per_s\": %f, \"fetch_mb_per_s\": %f, \"rebalance_ms\": %f}",
        mb,
        number(found.group(2)) * 1.048576,
        number(found.group(6)) * 1.048576,
        number(found.group(4)));
  }

  static String latency(String bootstrap, String topic, long records) {
    String said =
        said(
            () -> EndToEndLatency.main(bootstrap, topic, Long.toString(records), "all", "100"));
    Matcher found = AVERAGE.matcher(said);
    if (!found.find()) {
      throw new IllegalStateException(said);
    }
    return String.format("{\"mean_us\": %f}", number(found.group(1)) * 1000);
  }

  static double number(String text) {
    return Double.parseDouble(text.replace(",", ""));
  }

  /** What a program prints. */
  static String said(Program program) {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream ours = System.out;
    PrintStream oursToo = System.err;
    PrintStream caught = new PrintStream(said, true, StandardCharsets.UTF_8);
    System.setOut(caught);
    System.setErr(caught);
    try {
      program.run();
    } catch (Exception wrong) {
      throw new IllegalStateException(said.toString(StandardCharsets.UTF_8) + wrong, wrong);
    } finally {
      System.setOut(ours);
      System.setErr(oursToo);
    }
    return said.toString(StandardCharsets.UTF_8);
  }
}
