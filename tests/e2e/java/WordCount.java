import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/**
 * A Kafka Streams application that counts the words of "sentences" exactly once. Each new count goes
 * to "counts".
 *
 * <p>Arguments: bootstrap servers and the folder of the local state. It runs until the end of stdin.
 */
public final class WordCount {
  public static void main(String[] arguments) throws Exception {
    StreamsBuilder builder = new StreamsBuilder();
    builder.<String, String>stream("sentences")
        .flatMapValues(sentence -> List.of(sentence.split(" ")))
        .groupBy((key, word) -> word)
        .count()
        .toStream()
        .mapValues(String::valueOf)
        .to("counts");
    Properties properties = properties(arguments[0], arguments[1]);
    try (KafkaStreams streams = new KafkaStreams(builder.build(), properties)) {
      streams.setUncaughtExceptionHandler(
          failure -> StreamThreadExceptionResponse.REPLACE_THREAD);
      streams.start();
      System.in.transferTo(System.err);
    }
  }

  static Properties properties(String bootstrap, String folder) {
    Properties properties = new Properties();
    properties.put("application.id", "word-count");
    properties.put("bootstrap.servers", bootstrap);
    properties.put("state.dir", folder);
    properties.put("processing.guarantee", "exactly_once_v2");
    properties.put("num.stream.threads", "2");
    properties.put("default.key.serde", Serdes.StringSerde.class);
    properties.put("default.value.serde", Serdes.StringSerde.class);
    properties.put("auto.offset.reset", "earliest");
    // Every count goes to the topic.
    properties.put("statestore.cache.max.bytes", "0");
    properties.put("commit.interval.ms", "50");
    properties.put("session.timeout.ms", "2000");
    properties.put("heartbeat.interval.ms", "500");
    properties.put("reconnect.backoff.max.ms", "200");
    return properties;
  }
}
