import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Java client with its defaults. A line in ("story TAB bootstrap TAB topic") gives a line out:
 * "ok", or what went wrong. Each story checks what it sees; nothing here waits by the clock.
 */
public final class Stories {
  static final long LONG_AGO_MS = 1_600_000_000_000L;
  static final Duration PATIENCE = Duration.ofSeconds(30);

  interface Story {
    void tell(String bootstrap, String topic) throws Exception;
  }

  static final Map<String, Story> STORIES =
      Map.ofEntries(
          Map.entry("producer_defaults", Stories::producerDefaults),
          Map.entry("nulls_binary_and_headers", Stories::nullsBinaryAndHeaders),
          Map.entry("compression_gzip", (b, t) -> compression(b, t, "gzip")),
          Map.entry("compression_snappy", (b, t) -> compression(b, t, "snappy")),
          Map.entry("compression_lz4", (b, t) -> compression(b, t, "lz4")),
          Map.entry("compression_zstd", (b, t) -> compression(b, t, "zstd")),
          Map.entry("recompression", Stories::recompression),
          Map.entry("acks_zero_and_one", Stories::acksZeroAndOne),
          Map.entry("too_large", Stories::tooLarge),
          Map.entry("auto_creation", Stories::autoCreation),
          Map.entry("many_partitions", Stories::manyPartitions),
          Map.entry("seek_and_ends", Stories::seekAndEnds),
          Map.entry("offsets_for_times", Stories::offsetsForTimes),
          Map.entry("out_of_range", Stories::outOfRange),
          Map.entry("long_poll", Stories::longPoll),
          Map.entry("create_and_describe", Stories::createAndDescribe),
          Map.entry("describe_in_pages", Stories::describeInPages),
          Map.entry("create_refused", Stories::createRefused),
          Map.entry("list_offsets", Stories::listOffsets),
          Map.entry("delete_records", Stories::deleteRecords),
          Map.entry("describe_log_dirs", Stories::describeLogDirs),
          Map.entry("create_partitions", Stories::createPartitions),
          Map.entry("delete_by_name_and_id", Stories::deleteByNameAndId),
          Map.entry("describe_cluster", Stories::describeCluster));

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] parts = line.split("\t");
      String answer = "ok";
      try {
        STORIES.get(parts[0]).tell(parts[1], parts[2]);
      } catch (Throwable failure) {
        failure.printStackTrace();
        answer = failure.toString().replace('\n', ' ');
      }
      System.out.println(answer);
      System.out.flush();
    }
  }

  // --- clients

  static KafkaProducer<byte[], byte[]> producer(String bootstrap, String... settings) {
    Properties properties = properties(bootstrap, settings);
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, String... settings) {
    Properties properties = properties(bootstrap, settings);
    properties.putIfAbsent("auto.offset.reset", "none");
    properties.putIfAbsent("fetch.max.wait.ms", "100");
    return new KafkaConsumer<>(
        properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  static Admin admin(String bootstrap) {
    return Admin.create(properties(bootstrap));
  }

  static Properties properties(String bootstrap, String... settings) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrap);
    for (int i = 0; i < settings.length; i += 2) {
      properties.put(settings[i], settings[i + 1]);
    }
    return properties;
  }

  static List<RecordMetadata> send(
      KafkaProducer<byte[], byte[]> producer, String topic, byte[]... values) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (byte[] value : values) {
      sent.add(producer.send(new ProducerRecord<>(topic, 0, null, value)));
    }
    producer.flush();
    List<RecordMetadata> reports = new ArrayList<>();
    for (Future<RecordMetadata> report : sent) {
      reports.add(get(report));
    }
    return reports;
  }

  static void sendAt(KafkaProducer<byte[], byte[]> producer, String topic, long... stamps)
      throws Exception {
    for (long stamp : stamps) {
      get(producer.send(new ProducerRecord<>(topic, 0, stamp, null, bytes("x"))));
    }
  }

  static List<ConsumerRecord<byte[], byte[]>> take(
      KafkaConsumer<byte[], byte[]> consumer, int count) {
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (found.size() < count && System.nanoTime() < end) {
      consumer.poll(PATIENCE).forEach(found::add);
    }
    check(found.size() == count, "only " + found.size() + " of " + count + " records");
    return found;
  }

  static List<ConsumerRecord<byte[], byte[]>> read(String bootstrap, String topic, int count) {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap)) {
      consumer.assign(List.of(place));
      consumer.seekToBeginning(List.of(place));
      List<ConsumerRecord<byte[], byte[]>> found = take(consumer, count);
      for (int i = 0; i < count; i++) {
        check(found.get(i).offset() == i, "offset " + found.get(i).offset() + " at " + i);
      }
      return found;
    }
  }

  // --- producing

  static void producerDefaults(String bootstrap, String topic) throws Exception {
    byte[][] values = new byte[1000][];
    for (int i = 0; i < values.length; i++) {
      values[i] = bytes("value " + i);
    }
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      List<RecordMetadata> reports = send(producer, topic, values);
      for (int i = 0; i < values.length; i++) {
        check(reports.get(i).offset() == i, "offset " + reports.get(i).offset());
      }
    }
    List<ConsumerRecord<byte[], byte[]>> found = read(bootstrap, topic, values.length);
    for (int i = 0; i < values.length; i++) {
      check(Arrays.equals(found.get(i).value(), values[i]), "value " + i);
    }
  }

  static void nullsBinaryAndHeaders(String bootstrap, String topic) throws Exception {
    byte[] everyByte = new byte[256];
    for (int i = 0; i < 256; i++) {
      everyByte[i] = (byte) i;
    }
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      ProducerRecord<byte[], byte[]> full = new ProducerRecord<>(topic, 0, everyByte, everyByte);
      full.headers().add("binary", everyByte).add("none", null).add("binary", bytes("again"));
      get(producer.send(new ProducerRecord<>(topic, 0, null, null)));
      get(producer.send(full));
    }
    List<ConsumerRecord<byte[], byte[]>> found = read(bootstrap, topic, 2);
    check(found.get(0).key() == null && found.get(0).value() == null, "nulls");
    check(Arrays.equals(found.get(1).key(), everyByte), "key");
    check(Arrays.equals(found.get(1).value(), everyByte), "value");
    Header[] headers = found.get(1).headers().toArray();
    check(headers.length == 3, headers.length + " headers");
    check(Arrays.equals(headers[0].value(), everyByte), "binary header");
    check(headers[1].value() == null, "null header");
  }

  static void compression(String bootstrap, String topic, String codec) throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaProducer<byte[], byte[]> producer =
        producer(bootstrap, "compression.type", codec, "linger.ms", "50")) {
      for (int i = 0; i < 200; i++) {
        byte[] value = bytes(("value " + i + " ").repeat(50));
        producer.send(new ProducerRecord<>(topic, 0, LONG_AGO_MS + i, null, value));
      }
    }
    for (ConsumerRecord<byte[], byte[]> record : read(bootstrap, topic, 200)) {
      byte[] value = bytes(("value " + record.offset() + " ").repeat(50));
      check(Arrays.equals(record.value(), value), "value " + record.offset());
    }
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap)) {
      var found = consumer.offsetsForTimes(Map.of(place, LONG_AGO_MS + 123)).get(place);
      check(found.offset() == 123 && found.timestamp() == LONG_AGO_MS + 123, "found " + found);
    }
  }

  static void recompression(String bootstrap, String topic) throws Exception {
    List<String> codecs = List.of("gzip", "snappy", "lz4", "zstd", "uncompressed");
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try (Admin admin = admin(bootstrap);
        KafkaProducer<byte[], byte[]> producer =
            producer(bootstrap, "compression.type", "gzip", "linger.ms", "50")) {
      for (String codec : codecs) {
        ConfigEntry entry = new ConfigEntry("compression.type", codec);
        var set = new AlterConfigOp(entry, AlterConfigOp.OpType.SET);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(set))).all().get();
        byte[][] values = new byte[50][];
        Arrays.setAll(values, i -> bytes((codec + " " + i + " ").repeat(50)));
        send(producer, topic, values);
      }
    }
    List<ConsumerRecord<byte[], byte[]>> found = read(bootstrap, topic, 50 * codecs.size());
    for (int i = 0; i < found.size(); i++) {
      byte[] value = bytes((codecs.get(i / 50) + " " + i % 50 + " ").repeat(50));
      check(Arrays.equals(found.get(i).value(), value), "value " + i);
    }
  }

  static void acksZeroAndOne(String bootstrap, String topic) throws Exception {
    for (String acks : List.of("0", "1")) {
      try (KafkaProducer<byte[], byte[]> producer =
          producer(bootstrap, "acks", acks, "enable.idempotence", "false")) {
        send(producer, topic, bytes("acks " + acks));
      }
    }
    read(bootstrap, topic, 2);
  }

  static void tooLarge(String bootstrap, String topic) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        producer(bootstrap, "max.request.size", "5000000", "buffer.memory", "50000000")) {
      refused("RecordTooLargeException", () -> send(producer, topic, new byte[2_000_000]));
      send(producer, topic, bytes("still alive"));
      send(producer, topic, new byte[1_000_000]);
    }
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      refused("RecordTooLargeException", () -> send(producer, topic, new byte[2_000_000]));
    }
    read(bootstrap, topic, 2);
  }

  static void autoCreation(String bootstrap, String topic) throws Exception {
    String unused = topic + "-auto";
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      send(producer, unused, bytes("first"));
    }
    read(bootstrap, unused, 1);
  }

  static void manyPartitions(String bootstrap, String topic) throws Exception {
    String wide = topic + "-wide";
    try (Admin admin = admin(bootstrap)) {
      get(admin.createTopics(List.of(new NewTopic(wide, 8, (short) 1))).all());
    }
    List<TopicPartition> places = new ArrayList<>();
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      for (int partition = 0; partition < 8; partition++) {
        places.add(new TopicPartition(wide, partition));
        for (int i = 0; i < 25; i++) {
          producer.send(new ProducerRecord<>(wide, partition, null, bytes("p" + partition)));
        }
      }
      producer.flush();
    }
    try (KafkaConsumer<byte[], byte[]> consumer =
        consumer(bootstrap, "auto.offset.reset", "earliest")) {
      consumer.assign(places);
      for (ConsumerRecord<byte[], byte[]> record : take(consumer, 200)) {
        check(Arrays.equals(record.value(), bytes("p" + record.partition())), "partition");
      }
    }
  }

  // --- consuming

  static void seekAndEnds(String bootstrap, String topic) throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      send(producer, topic, bytes("0"), bytes("1"), bytes("2"), bytes("3"));
    }
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap)) {
      consumer.assign(List.of(place));
      check(consumer.beginningOffsets(List.of(place)).get(place) == 0, "beginning");
      check(consumer.endOffsets(List.of(place)).get(place) == 4, "end");
      check(consumer.partitionsFor(topic).size() == 1, "partitionsFor");
      consumer.seek(place, 2);
      check(take(consumer, 2).get(0).offset() == 2, "seek");
      consumer.seek(place, 0);
      check(take(consumer, 4).get(0).offset() == 0, "seek back");
    }
  }

  static void offsetsForTimes(String bootstrap, String topic) throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      sendAt(producer, topic, LONG_AGO_MS, LONG_AGO_MS + 1000, LONG_AGO_MS + 2000);
    }
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap)) {
      OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(place, LONG_AGO_MS + 1)).get(place);
      check(found.offset() == 1 && found.timestamp() == LONG_AGO_MS + 1000, "found " + found);
      check(consumer.offsetsForTimes(Map.of(place, LONG_AGO_MS * 2)).get(place) == null, "beyond");
    }
  }

  static void outOfRange(String bootstrap, String topic) throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
      send(producer, topic, bytes("a"), bytes("b"));
    }
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap)) {
      consumer.assign(List.of(place));
      consumer.seek(place, 100);
      refused("OffsetOutOfRangeException", () -> take(consumer, 1));
    }
    try (KafkaConsumer<byte[], byte[]> consumer =
        consumer(bootstrap, "auto.offset.reset", "earliest")) {
      consumer.assign(List.of(place));
      consumer.seek(place, 100);
      check(take(consumer, 2).get(0).offset() == 0, "earliest");
    }
  }

  static void longPoll(String bootstrap, String topic) throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap);
        KafkaConsumer<byte[], byte[]> consumer =
            consumer(
                bootstrap, "fetch.max.wait.ms", "60000", "request.timeout.ms", "120000")) {
      send(producer, topic, bytes("before"));
      consumer.assign(List.of(place));
      consumer.seek(place, 0);
      take(consumer, 1);
      consumer.poll(Duration.ZERO); // sends the fetch that waits
      for (int i = 0; i < 3; i++) {
        send(producer, topic, bytes("meanwhile " + i));
        check(Arrays.equals(take(consumer, 1).get(0).value(), bytes("meanwhile " + i)), "value");
      }
      send(producer, topic, bytes("last")); // or close() waits behind the fetch that waits
    }
  }

  // --- administration

  static void createAndDescribe(String bootstrap, String topic) throws Exception {
    String name = topic + "-described";
    NewTopic wanted = new NewTopic(name, 3, (short) 1).configs(Map.of("retention.ms", "60000"));
    try (Admin admin = admin(bootstrap)) {
      CreateTopicsOptions onlyValidate = new CreateTopicsOptions().validateOnly(true);
      get(admin.createTopics(List.of(wanted), onlyValidate).all());
      check(!get(admin.listTopics().names()).contains(name), "validate only created it");
      var created = admin.createTopics(List.of(wanted));
      check(get(created.numPartitions(name)) == 3, "partitions in the answer");
      check(get(created.config(name)).get("retention.ms").value().equals("60000"), "configs");
      TopicDescription found = get(admin.describeTopics(List.of(name)).allTopicNames()).get(name);
      check(found.partitions().size() == 3, "partitions");
      check(found.topicId().equals(get(created.topicId(name))), "topic id");
      check(!found.topicId().equals(Uuid.ZERO_UUID), "zero topic id");
      check(found.partitions().get(2).leader().port() > 0, "leader");
      TopicCollection byId = TopicCollection.ofTopicIds(List.of(found.topicId()));
      check(get(admin.describeTopics(byId).allTopicIds()).size() == 1, "described by id");
      refused(
          "UnknownTopicOrPartitionException",
          () -> get(admin.describeTopics(List.of(name + "-none")).allTopicNames()));
    }
  }

  /** DescribeTopicPartitions answers in pages of so many partitions. */
  static void describeInPages(String bootstrap, String topic) throws Exception {
    List<String> names = List.of(topic + "-a", topic + "-b", topic + "-c");
    try (Admin admin = admin(bootstrap)) {
      for (String name : names) {
        create(admin, new NewTopic(name, 5, (short) 1));
      }
      DescribeTopicsOptions pages = new DescribeTopicsOptions().partitionSizeLimitPerResponse(2);
      Map<String, TopicDescription> found =
          get(admin.describeTopics(names, pages).allTopicNames());
      for (String name : names) {
        TreeSet<Integer> seen = new TreeSet<>();
        found.get(name).partitions().forEach(partition -> seen.add(partition.partition()));
        check(found.get(name).partitions().size() == 5, name + ": each partition once");
        check(seen.equals(new TreeSet<>(List.of(0, 1, 2, 3, 4))), name + ": " + seen);
      }
    }
  }

  static void createRefused(String bootstrap, String topic) throws Exception {
    try (Admin admin = admin(bootstrap)) {
      refused("TopicExistsException", () -> create(admin, new NewTopic(topic, 1, (short) 1)));
      refused("InvalidTopicException", () -> create(admin, new NewTopic("a b", 1, (short) 1)));
      refused(
          "InvalidReplicationFactorException",
          () -> create(admin, new NewTopic(topic + "-no", 1, (short) 9)));
      refused(
          "InvalidPartitionsException",
          () -> create(admin, new NewTopic(topic + "-no", 0, (short) 1)));
      refused(
          "InvalidConfigurationException",
          () -> create(admin, new NewTopic(topic + "-no", 1, (short) 1).configs(Map.of("x", "y"))));
    }
  }

  static void create(Admin admin, NewTopic topic) throws Exception {
    get(admin.createTopics(List.of(topic)).all());
  }

  static void listOffsets(String bootstrap, String topic) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap);
        Admin admin = admin(bootstrap)) {
      sendAt(producer, topic, LONG_AGO_MS, LONG_AGO_MS + 9000, LONG_AGO_MS + 3000);
      check(offset(admin, topic, OffsetSpec.earliest()).offset() == 0, "earliest");
      check(offset(admin, topic, OffsetSpec.latest()).offset() == 3, "latest");
      check(offset(admin, topic, OffsetSpec.forTimestamp(LONG_AGO_MS + 1)).offset() == 1, "time");
      check(offset(admin, topic, OffsetSpec.forTimestamp(LONG_AGO_MS * 2)).offset() == -1, "late");
      ListOffsetsResultInfo newest = offset(admin, topic, OffsetSpec.maxTimestamp());
      check(newest.offset() == 1 && newest.timestamp() == LONG_AGO_MS + 9000, "max " + newest);
      check(offset(admin, topic, OffsetSpec.earliestLocal()).offset() == 0, "earliest local");
      check(offset(admin, topic, OffsetSpec.latestTiered()).offset() == -1, "latest tiered");
    }
  }

  static void deleteRecords(String bootstrap, String topic) throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap);
        Admin admin = admin(bootstrap);
        KafkaConsumer<byte[], byte[]> consumer =
            consumer(bootstrap, "auto.offset.reset", "earliest")) {
      sendAt(producer, topic, LONG_AGO_MS, LONG_AGO_MS + 9000, LONG_AGO_MS + 3000);
      check(deleted(admin, place, 2) == 2, "low watermark");
      check(deleted(admin, place, 1) == 2, "it went back");
      check(offset(admin, topic, OffsetSpec.earliest()).offset() == 2, "earliest");
      ListOffsetsResultInfo newest = offset(admin, topic, OffsetSpec.latest());
      check(newest.offset() == 3, "latest " + newest);
      consumer.assign(List.of(place));
      consumer.seek(place, 0);
      check(take(consumer, 1).get(0).offset() == 2, "reset to the new start");
      check(deleted(admin, place, -1) == 3, "all of it");
      refused("OffsetOutOfRangeException", () -> deleted(admin, place, 4));
    }
  }

  static long deleted(Admin admin, TopicPartition place, long before) throws Exception {
    Map<TopicPartition, RecordsToDelete> wanted =
        Map.of(place, RecordsToDelete.beforeOffset(before));
    return get(admin.deleteRecords(wanted).lowWatermarks().get(place)).lowWatermark();
  }

  static void describeLogDirs(String bootstrap, String topic) throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap);
        Admin admin = admin(bootstrap)) {
      sendAt(producer, topic, LONG_AGO_MS);
      var described = get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic);
      int node = described.partitions().get(0).leader().id();
      Map<String, LogDirDescription> folders =
          get(admin.describeLogDirs(List.of(node)).allDescriptions()).get(node);
      check(folders.size() == 1, "folders " + folders.keySet());
      LogDirDescription folder = folders.values().iterator().next();
      check(folder.error() == null, "error " + folder.error());
      check(folder.replicaInfos().get(place).size() > 60, "size " + folder.replicaInfos());
      check(folder.replicaInfos().get(place).offsetLag() == 0, "lag");
      long free = folder.usableBytes().orElse(0);
      check(free <= folder.totalBytes().orElse(0), "room " + folder);
    }
  }

  /** The client asks any broker, and each learns of a change for itself. */
  static void eventually(Callable<Boolean> holds) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!holds.call()) {
      check(System.nanoTime() < until, "not within 30 s");
    }
  }

  static ListOffsetsResultInfo offset(Admin admin, String topic, OffsetSpec spec)
      throws Exception {
    TopicPartition place = new TopicPartition(topic, 0);
    return get(admin.listOffsets(Map.of(place, spec)).partitionResult(place));
  }

  static void createPartitions(String bootstrap, String topic) throws Exception {
    try (Admin admin = admin(bootstrap)) {
      get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(5))).all());
      eventually(
          () ->
              get(admin.describeTopics(List.of(topic)).allTopicNames())
                      .get(topic)
                      .partitions()
                      .size()
                  == 5);
      refused(
          "InvalidPartitionsException",
          () -> get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(2))).all()));
    }
  }

  static void deleteByNameAndId(String bootstrap, String topic) throws Exception {
    String other = topic + "-by-id";
    try (Admin admin = admin(bootstrap)) {
      var created = admin.createTopics(List.of(new NewTopic(other, 1, (short) 1)));
      Uuid id = get(created.topicId(other));
      get(admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id))).all());
      get(admin.deleteTopics(List.of(topic)).all());
      eventually(() -> !get(admin.listTopics().names()).contains(topic));
      eventually(() -> !get(admin.listTopics().names()).contains(other));
      refused(
          "UnknownTopicOrPartitionException",
          () -> get(admin.deleteTopics(List.of(topic)).all()));
      refused(
          "UnknownTopicIdException",
          () -> get(admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id))).all()));
    }
  }

  static void describeCluster(String bootstrap, String topic) throws Exception {
    try (Admin admin = admin(bootstrap)) {
      var cluster = admin.describeCluster();
      Set<String> addresses = new TreeSet<>();
      get(cluster.nodes()).forEach(node -> addresses.add(node.host() + ":" + node.port()));
      check(addresses.equals(new TreeSet<>(List.of(bootstrap.split(",")))), "nodes " + addresses);
      check(get(cluster.nodes()).contains(get(cluster.controller())), "controller");
      check(get(cluster.clusterId()).length() == 22, "cluster id");
    }
  }

  // --- checks

  interface Attempt {
    void run() throws Exception;
  }

  static void refused(String kind, Attempt attempt) throws Exception {
    try {
      attempt.run();
    } catch (KafkaException failure) {
      check(failure.getClass().getSimpleName().equals(kind), "not " + kind + " but " + failure);
      return;
    }
    throw new AssertionError("no " + kind);
  }

  static <T> T get(Future<T> future) throws Exception {
    try {
      return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof KafkaException cause) {
        throw cause;
      }
      throw failure;
    }
  }

  static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }
}
