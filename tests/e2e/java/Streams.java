import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;

/**
 * A Kafka Streams application: the table of the compacted topic "prices", restored from the topic
 * itself, and the number of "orders" of each item, with a repartition topic and a changelog.
 *
 * <p>Arguments: bootstrap servers and the folder of the local state. A line in ("store TAB expected
 * content") gives a line out: the content of the store, as soon as it is the expected one or after
 * a while. It leaves its group at the end of stdin.
 */
public final class Streams {
  static final Duration PATIENCE = Duration.ofSeconds(40);

  public static void main(String[] arguments) throws Exception {
    StreamsBuilder builder = new StreamsBuilder();
    builder.table("prices", Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("prices"));
    builder.<String, String>stream("orders")
        .groupBy((order, item) -> item, Grouped.as("items"))
        .count(Materialized.as("counts"));
    Properties properties = properties(arguments[0], arguments[1]);
    try (KafkaStreams streams = new KafkaStreams(builder.build(properties), properties)) {
      streams.start();
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] parts = line.split("\t");
        System.out.println(content(streams, parts[0], parts[1]));
        System.out.flush();
      }
      streams.close(
          CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
    }
  }

  static Properties properties(String bootstrap, String folder) {
    Properties properties = new Properties();
    properties.put("application.id", "shop");
    properties.put("bootstrap.servers", bootstrap);
    properties.put("state.dir", folder);
    properties.put("default.key.serde", Serdes.StringSerde.class);
    properties.put("default.value.serde", Serdes.StringSerde.class);
    properties.put("auto.offset.reset", "earliest");
    properties.put("topology.optimization", "all");
    // Every update goes to the changelog, and processed records are deleted soon.
    properties.put("statestore.cache.max.bytes", "0");
    properties.put("commit.interval.ms", "100");
    properties.put("repartition.purge.interval.ms", "100");
    properties.put("topic.segment.ms", "1");
    properties.put("topic.min.cleanable.dirty.ratio", "0.01");
    return properties;
  }

  static String content(KafkaStreams streams, String store, String expected) throws Exception {
    long until = System.nanoTime() + PATIENCE.toNanos();
    String found = "";
    while (!found.equals(expected) && System.nanoTime() < until) {
      found = content(streams, store);
      Thread.sleep(20);
    }
    return found;
  }

  static String content(KafkaStreams streams, String store) {
    TreeMap<String, String> found = new TreeMap<>();
    try (KeyValueIterator<String, Object> all =
        streams
            .store(StoreQueryParameters.fromNameAndType(
                store, QueryableStoreTypes.<String, Object>keyValueStore()))
            .all()) {
      while (all.hasNext()) {
        KeyValue<String, Object> entry = all.next();
        found.put(entry.key, String.valueOf(entry.value));
      }
    } catch (InvalidStateStoreException later) {
      return streams.state().toString(); // it is restored, or moves
    }
    return String.join(" ", found.entrySet().stream().map(Object::toString).toList());
  }
}
