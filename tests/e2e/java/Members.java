import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Consumers of the Java client, a thread each. Lines in and out are those of
 * tests/e2e/groups/clients/lines.py.
 */
public final class Members {
  static final Map<String, Member> MEMBERS = new HashMap<>();

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Map<String, String> command = new HashMap<>();
      for (String field : line.split("\t")) {
        String[] parts = field.split("=", 2);
        command.put(parts[0], parts[1]);
      }
      if (command.get("do").equals("join")) {
        Member member = new Member(command);
        MEMBERS.put(member.name, member);
        member.start();
      } else {
        MEMBERS.get(command.get("member")).commands.add(command);
      }
    }
    System.exit(0);
  }

  static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace('\n', ' ') + '"';
  }

  static final class Member extends Thread implements ConsumerRebalanceListener {
    final String name;
    final Map<String, String> wanted;
    final ConcurrentLinkedQueue<Map<String, String>> commands = new ConcurrentLinkedQueue<>();
    final TreeSet<String> held = new TreeSet<>();
    KafkaConsumer<String, String> consumer;
    boolean left;

    Member(Map<String, String> wanted) {
      this.name = wanted.get("member");
      this.wanted = wanted;
      setDaemon(true);
    }

    Properties properties() {
      Properties properties = new Properties();
      properties.put("bootstrap.servers", wanted.get("bootstrap"));
      properties.put("group.id", wanted.get("group"));
      properties.put("auto.offset.reset", wanted.getOrDefault("reset", "earliest"));
      properties.put("enable.auto.commit", wanted.getOrDefault("commit", "auto").equals("auto"));
      properties.put("fetch.max.wait.ms", "100");
      properties.put("metadata.max.age.ms", "500");
      properties.put("reconnect.backoff.max.ms", "200");
      if (wanted.containsKey("instance")) {
        properties.put("group.instance.id", wanted.get("instance"));
      }
      boolean classic = wanted.getOrDefault("protocol", "classic").equals("classic");
      String assignor = wanted.get("assignor");
      if (!classic) {
        properties.put("group.protocol", "consumer");
        if (assignor != null) {
          properties.put("group.remote.assignor", assignor);
        }
        return properties;
      }
      int session = Integer.parseInt(wanted.getOrDefault("session_ms", "10000"));
      properties.put("session.timeout.ms", session);
      properties.put("heartbeat.interval.ms", Math.min(session / 5, 200));
      if (assignor != null) {
        String assignors = "org.apache.kafka.clients.consumer." + assignor + "Assignor";
        properties.put("partition.assignment.strategy", assignors);
      }
      return properties;
    }

    void subscribe() {
      String topics = wanted.get("topics");
      boolean classic = wanted.getOrDefault("protocol", "classic").equals("classic");
      if (!topics.startsWith("^")) {
        consumer.subscribe(List.of(topics.split(",")), this);
      } else if (classic) {
        consumer.subscribe(Pattern.compile(topics), this);
      } else {
        consumer.subscribe(new SubscriptionPattern(topics), this);
      }
    }

    @Override
    public void run() {
      try {
        consumer =
            new KafkaConsumer<>(properties(), new StringDeserializer(), new StringDeserializer());
        subscribe();
        answer(wanted, "\"result\": null");
        while (!left) {
          for (var command = commands.poll(); command != null; command = commands.poll()) {
            obey(command);
          }
          if (!left) {
            take();
          }
        }
      } catch (Throwable failure) {
        failure.printStackTrace();
        tell("\"died\": " + quoted(failure.toString()));
      }
    }

    void take() {
      var records = consumer.poll(Duration.ofMillis(20));
      if (!records.isEmpty()) {
        StringBuilder told = new StringBuilder();
        for (ConsumerRecord<String, String> record : records) {
          told.append(told.isEmpty() ? "" : ", ")
              .append(place(record.topic(), record.partition()).replace("]", ", "))
              .append(record.offset() + ", " + quoted(record.value()) + "]");
        }
        tell("\"records\": [" + told + "]");
      }
    }

    void obey(Map<String, String> command) {
      try {
        switch (command.get("do")) {
          case "leave" -> {
            left = true;
            consumer.close();
          }
          case "commit" ->
              consumer.commitSync(
                  offsets(command).entrySet().stream()
                      .collect(
                          Collectors.toMap(
                              Map.Entry::getKey, e -> new OffsetAndMetadata(e.getValue()))));
          case "seek" -> offsets(command).forEach(consumer::seek);
          case "pause" -> consumer.pause(offsets(command).keySet());
          case "resume" -> consumer.resume(offsets(command).keySet());
          default -> throw new IllegalArgumentException(command.get("do"));
        }
        answer(command, "\"result\": null");
      } catch (RuntimeException refused) {
        answer(command, "\"error\": " + quoted(refused.getClass().getSimpleName()));
      }
    }

    static Map<TopicPartition, Long> offsets(Map<String, String> command) {
      Map<TopicPartition, Long> found = new HashMap<>();
      for (String place : command.get("places").split(",")) {
        String[] parts = place.split(":");
        Long offset = parts.length > 2 ? Long.parseLong(parts[2]) : -1L;
        found.put(new TopicPartition(parts[0], Integer.parseInt(parts[1])), offset);
      }
      return found;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> gained) {
      gained.forEach(place -> held.add(place(place.topic(), place.partition())));
      tellHeld();
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> gone) {
      gone.forEach(place -> held.remove(place(place.topic(), place.partition())));
      tellHeld();
    }

    void tellHeld() {
      int generation = consumer.groupMetadata().generationId();
      tell("\"assigned\": " + held + ", \"generation\": " + generation);
    }

    static String place(String topic, int partition) {
      return "[" + quoted(topic) + ", " + partition + "]";
    }

    void tell(String fact) {
      say("{\"member\": " + quoted(name) + ", " + fact + "}");
    }

    static void answer(Map<String, String> command, String outcome) {
      say("{\"id\": " + command.get("id") + ", " + outcome + "}");
    }
  }
}
