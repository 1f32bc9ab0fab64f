// java -cp 'libs/*' Client.java ADDRESS SASL_ADDRESS PREFIX: what a Java program does, once through.
// Compiles against kafka-clients 3.9 and 4.x.

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.quota.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.serialization.*;

class Client {
    interface Action { void run() throws Exception; }

    static String address, saslAddress, prefix, plain;
    static final Deserializer<byte[]> BYTES = new ByteArrayDeserializer();

    static void attempt(String what, Action action) {
        try {
            action.run();
        } catch (Throwable error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            System.out.println("  java " + what + ": " + cause);
        }
    }

    static Map<String, Object> config(Object... more) {
        var config = new HashMap<String, Object>(Map.of(
            "bootstrap.servers", address, "client.id", "golden", "request.timeout.ms", 5000,
            "default.api.timeout.ms", 6000));
        for (int index = 0; index < more.length; index += 2)
            config.put((String) more[index], more[index + 1]);
        return config;
    }

    public static void main(String[] args) throws Exception {
        address = args[0];
        saslAddress = args[1];
        prefix = args[2];
        plain = prefix + "-plain";
        try (Admin admin = Admin.create(config())) {
            topics(admin);
            produce();
            read();
            for (String protocol : List.of("classic", "consumer"))
                attempt(protocol, () -> group(admin, protocol));
            attempt("transactions", () -> transactions(admin));
            offsets(admin);
            groups(admin);
            configs(admin);
            logs(admin);
            cluster(admin);
            security(admin);
            deleteTopics(admin);
        }
        attempt("sasl", Client::authenticate);
        System.exit(0);
    }

    static void topics(Admin admin) {
        var one = Optional.of(1);
        create(admin, "create", new NewTopic(plain, Optional.of(2), Optional.of((short) 1)), false);
        create(admin, "with configs", new NewTopic(prefix + "-configs", Map.of(0, List.of(1)))
            .configs(Map.of("retention.ms", "60000", "cleanup.policy", "compact")), false);
        create(admin, "defaults", new NewTopic(prefix + "-ids", Optional.empty(), Optional.empty()), false);
        create(admin, "validate", new NewTopic(prefix + "-checked", one, Optional.empty()), true);
        create(admin, "duplicate", new NewTopic(plain, one, Optional.empty()), false);
        create(admin, "bad name", new NewTopic("bad/name", one, Optional.empty()), false);
        create(admin, "bad config", new NewTopic(prefix + "-x", one, Optional.empty())
            .configs(Map.of("no.such", "1")), false);
        attempt("create partitions", () ->
            admin.createPartitions(Map.of(plain, NewPartitions.increaseTo(3))).all().get());
        attempt("fewer partitions", () ->
            admin.createPartitions(Map.of(plain, NewPartitions.increaseTo(1))).all().get());
        attempt("describe cluster", () ->
            admin.describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(true)).nodes().get());
        attempt("list topics", () -> admin.listTopics().names().get());
        attempt("describe topics", () -> admin.describeTopics(List.of(plain)).allTopicNames().get());
        attempt("with operations", () -> admin.describeTopics(List.of(plain),
            new DescribeTopicsOptions().includeAuthorizedOperations(true)).allTopicNames().get());
        attempt("in pages", () -> admin.describeTopics(List.of(plain),
            new DescribeTopicsOptions().partitionSizeLimitPerResponse(2)).allTopicNames().get());
        attempt("by id", () -> {
            var found = admin.describeTopics(List.of(prefix + "-ids")).allTopicNames().get();
            admin.describeTopics(TopicCollection.ofTopicIds(
                List.of(found.get(prefix + "-ids").topicId()))).allTopicIds().get();
        });
        attempt("unknown topic", () -> admin.describeTopics(List.of("nowhere")).allTopicNames().get());
        attempt("unknown id", () -> admin.describeTopics(
            TopicCollection.ofTopicIds(List.of(new Uuid(7, 7)))).allTopicIds().get());
    }

    static void create(Admin admin, String what, NewTopic topic, boolean validate) {
        attempt(what, () -> admin.createTopics(
            List.of(topic), new CreateTopicsOptions().validateOnly(validate)).all().get());
    }

    static ProducerRecord<byte[], byte[]> row(int partition, byte[] key, byte[] value) {
        return new ProducerRecord<>(plain, partition, 1_700_000_000_000L, key, value,
            List.of(new RecordHeader("h", new byte[] {0, -1}), new RecordHeader("h", null)));
    }

    static void produce() {
        for (String acks : List.of("0", "1", "all"))
            send("acks " + acks, "acks", acks, "enable.idempotence", false);
        send("idempotent");
        for (String codec : List.of("gzip", "snappy", "lz4", "zstd"))
            send(codec, "compression.type", codec);
        attempt("unknown topic", () -> {
            try (var producer = producer("max.block.ms", 500, "enable.idempotence", false)) {
                producer.send(new ProducerRecord<>("bad/name", new byte[0])).get();
            }
        });
        attempt("too large", () -> {
            try (var producer = producer("max.request.size", 2_000_000)) {
                producer.send(row(0, null, new byte[1_100_000])).get();
            }
        });
    }

    static KafkaProducer<byte[], byte[]> producer(Object... more) {
        return new KafkaProducer<>(config(more), new ByteArraySerializer(), new ByteArraySerializer());
    }

    static void send(String what, Object... more) {
        attempt(what, () -> {
            try (var producer = producer(more)) {
                producer.send(row(0, "key".getBytes(), null)).get();
                producer.send(row(0, null, new byte[] {0, 1, -1}));
                producer.send(row(1, null, what.getBytes())).get();
            }
        });
    }

    static KafkaConsumer<byte[], byte[]> consumer(Object... more) {
        return new KafkaConsumer<>(config(more), BYTES, BYTES);
    }

    static void poll(Consumer<?, ?> consumer, int times) {
        for (int turn = 0; turn < times; turn++) consumer.poll(Duration.ofMillis(300));
    }

    static void read() {
        var partitions = List.of(new TopicPartition(plain, 0), new TopicPartition(plain, 1));
        for (String isolation : List.of("read_uncommitted", "read_committed"))
            attempt("read " + isolation, () -> {
                try (var consumer = consumer("isolation.level", isolation, "auto.offset.reset", "earliest",
                        "fetch.max.wait.ms", 200, "max.partition.fetch.bytes", 1000)) {
                    consumer.assign(partitions);
                    consumer.seekToBeginning(partitions);
                    poll(consumer, 4);
                    consumer.seek(partitions.get(0), 5000);
                    poll(consumer, 3);
                    consumer.seek(partitions.get(0), new OffsetAndMetadata(1, Optional.of(0), ""));
                    poll(consumer, 2);
                    consumer.beginningOffsets(partitions);
                    consumer.endOffsets(partitions);
                    consumer.offsetsForTimes(Map.of(partitions.get(0), 1_700_000_000_000L));
                    consumer.partitionsFor(plain);
                    consumer.listTopics();
                }
            });
        attempt("incremental session", () -> {
            try (var consumer = consumer("auto.offset.reset", "earliest", "fetch.max.wait.ms", 100)) {
                consumer.assign(partitions);
                poll(consumer, 3);
                consumer.assign(partitions.subList(1, 2));
                poll(consumer, 3);
            }
        });
    }

    static void group(Admin admin, String protocol) throws Exception {
        String id = prefix + "-" + protocol;
        var more = new ArrayList<Object>(List.of("group.id", id, "group.protocol", protocol,
            "auto.offset.reset", "earliest", "enable.auto.commit", false, "fetch.max.wait.ms", 100));
        if (protocol.equals("classic"))
            more.addAll(List.of("session.timeout.ms", 6000, "heartbeat.interval.ms", 300,
                "group.instance.id", "static-1"));
        try (var consumer = consumer(more.toArray())) {
            consumer.subscribe(List.of(plain));
            for (int turn = 0; consumer.assignment().isEmpty() && turn < 30; turn++) poll(consumer, 1);
            poll(consumer, 4);
            consumer.commitSync();
            var partition = new TopicPartition(plain, 0);
            attempt("commit", () -> consumer.commitSync(
                Map.of(partition, new OffsetAndMetadata(2, Optional.of(0), "note"))));
            attempt("committed", () -> consumer.committed(Set.of(partition)));
            attempt("describe " + id, () -> admin.describeConsumerGroups(List.of(id),
                new DescribeConsumerGroupsOptions().includeAuthorizedOperations(true)).all().get());
            attempt("delete live group", () -> admin.deleteConsumerGroups(List.of(id)).all().get());
            attempt("alter live offsets", () -> admin.alterConsumerGroupOffsets(
                id, Map.of(partition, new OffsetAndMetadata(1))).all().get());
            attempt("second member", () -> {
                more.removeAll(List.of("group.instance.id", "static-1"));
                try (var second = consumer(more.toArray())) {
                    second.subscribe(List.of(plain));
                    for (int turn = 0; turn < 6; turn++) {
                        poll(second, 1);
                        poll(consumer, 1);
                    }
                }
            });
            poll(consumer, 3);
            if (protocol.equals("classic"))
                attempt("remove members", () -> admin.removeMembersFromConsumerGroup(
                    id, new RemoveMembersFromConsumerGroupOptions()).all().get());
        }
    }

    static void transactions(Admin admin) throws Exception {
        try (var producer = producer("transactional.id", prefix + "-txn");
             var consumer = consumer("group.id", prefix + "-classic", "enable.auto.commit", false)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(row(2, null, "committed".getBytes())).get();
            attempt("list open", () -> admin.listTransactions().all().get());
            attempt("describe open", () ->
                admin.describeTransactions(List.of(prefix + "-txn")).all().get());
            attempt("describe unknown", () -> admin.describeTransactions(List.of("nobody")).all().get());
            attempt("producers", () ->
                admin.describeProducers(List.of(new TopicPartition(plain, 2))).all().get());
            attempt("offsets", () -> producer.sendOffsetsToTransaction(
                Map.of(new TopicPartition(plain, 0), new OffsetAndMetadata(3)),
                new ConsumerGroupMetadata(prefix + "-classic")));
            producer.commitTransaction();
            producer.beginTransaction();
            producer.send(row(2, null, "aborted".getBytes())).get();
            producer.abortTransaction();
            producer.beginTransaction();
            producer.send(row(2, null, "open".getBytes())).get();
            attempt("fenced", () -> {
                try (var other = producer("transactional.id", prefix + "-txn")) {
                    other.initTransactions();
                }
                producer.send(row(2, null, "late".getBytes())).get();
            });
            attempt("fence", () -> admin.fenceProducers(List.of(prefix + "-txn")).all().get());
        }
        attempt("read committed", () -> {
            try (var consumer = consumer("isolation.level", "read_committed", "fetch.max.wait.ms", 100)) {
                var partition = List.of(new TopicPartition(plain, 2));
                consumer.assign(partition);
                consumer.seekToBeginning(partition);
                poll(consumer, 4);
            }
        });
    }

    static void offsets(Admin admin) {
        var partition = new TopicPartition(plain, 0);
        for (OffsetSpec spec : List.of(OffsetSpec.earliest(), OffsetSpec.latest(), OffsetSpec.maxTimestamp(),
                OffsetSpec.forTimestamp(1_700_000_000_000L), OffsetSpec.forTimestamp(4_000_000_000_000L)))
            attempt("offsets", () -> admin.listOffsets(Map.of(partition, spec)).all().get());
        attempt("delete records", () -> admin.deleteRecords(
            Map.of(partition, RecordsToDelete.beforeOffset(1))).all().get());
        attempt("delete too many", () -> admin.deleteRecords(
            Map.of(partition, RecordsToDelete.beforeOffset(9999))).all().get());
    }

    static void groups(Admin admin) {
        attempt("list groups", () -> admin.listConsumerGroups().all().get());
        attempt("list some", () -> admin.listConsumerGroups(new ListConsumerGroupsOptions()
            .inStates(Set.of(ConsumerGroupState.EMPTY)).withTypes(Set.of(GroupType.CLASSIC))).all().get());
        attempt("describe unknown", () -> admin.describeConsumerGroups(List.of("nobody")).all().get());
        String id = prefix + "-classic";
        attempt("offsets of group", () -> admin.listConsumerGroupOffsets(id).all().get());
        attempt("offsets of groups", () -> admin.listConsumerGroupOffsets(Map.of(
            id, new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(new TopicPartition(plain, 0))),
            "nobody", new ListConsumerGroupOffsetsSpec())).all().get());
        attempt("alter offsets", () -> admin.alterConsumerGroupOffsets(id, Map.of(
            new TopicPartition(plain, 0), new OffsetAndMetadata(1),
            new TopicPartition("nowhere", 0), new OffsetAndMetadata(1))).all().get());
        attempt("delete offsets", () -> admin.deleteConsumerGroupOffsets(
            id, Set.of(new TopicPartition(plain, 0))).all().get());
        attempt("delete groups", () -> admin.deleteConsumerGroups(List.of(id, "nobody")).all().get());
    }

    @SuppressWarnings({"deprecation", "removal"})
    static void configs(Admin admin) {
        var topic = new ConfigResource(ConfigResource.Type.TOPIC, prefix + "-ids");
        var broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        attempt("describe topic", () -> admin.describeConfigs(List.of(topic),
            new DescribeConfigsOptions().includeSynonyms(true)).all().get());
        attempt("describe unknown", () -> admin.describeConfigs(List.of(
            new ConfigResource(ConfigResource.Type.TOPIC, "nowhere"))).all().get());
        for (var type : AlterConfigOp.OpType.values())
            attempt(type.name(), () -> admin.incrementalAlterConfigs(Map.of(topic, List.of(new AlterConfigOp(
                new ConfigEntry("cleanup.policy", "compact"), type)))).all().get());
        attempt("bad value", () -> admin.incrementalAlterConfigs(Map.of(topic, List.of(new AlterConfigOp(
            new ConfigEntry("retention.ms", "x"), AlterConfigOp.OpType.SET))),
            new AlterConfigsOptions().validateOnly(true)).all().get());
        attempt("broker", () -> admin.incrementalAlterConfigs(Map.of(broker, List.of(new AlterConfigOp(
            new ConfigEntry("log.retention.ms", "90000"), AlterConfigOp.OpType.SET)))).all().get());
        attempt("alter configs", () -> Admin.class.getMethod("alterConfigs", Map.class).invoke(admin,
            Map.of(topic, new Config(List.of(new ConfigEntry("retention.ms", "80000"))))));
        attempt("client metrics", () -> admin.incrementalAlterConfigs(Map.of(
            new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "golden"), List.of(new AlterConfigOp(
            new ConfigEntry("interval.ms", "30000"), AlterConfigOp.OpType.SET)))).all().get());
        attempt("list client metrics", () -> admin.listClientMetricsResources().all().get());
    }

    static void logs(Admin admin) {
        var replica = new TopicPartitionReplica(plain, 0, 1);
        attempt("log dirs", () -> admin.describeLogDirs(List.of(1)).allDescriptions().get());
        attempt("replica log dirs", () -> admin.describeReplicaLogDirs(List.of(replica)).all().get());
        attempt("move", () -> {
            var where = admin.describeReplicaLogDirs(List.of(replica)).all().get().get(replica);
            String now = where.getCurrentReplicaLogDir();
            String other = now.endsWith("1") ? now.replace("data-1", "data-2") : now.replace("data-2", "data-1");
            admin.alterReplicaLogDirs(Map.of(replica, other)).all().get();
        });
        attempt("move nowhere", () -> admin.alterReplicaLogDirs(Map.of(replica, "/nowhere")).all().get());
        var partition = new TopicPartition(plain, 0);
        attempt("elect", () -> admin.electLeaders(ElectionType.PREFERRED, Set.of(partition)).all().get());
        attempt("elect unclean", () ->
            admin.electLeaders(ElectionType.UNCLEAN, Set.of(new TopicPartition("nowhere", 0))).all().get());
        attempt("reassign", () -> admin.alterPartitionReassignments(
            Map.of(partition, Optional.of(new NewPartitionReassignment(List.of(1))))).all().get());
        attempt("reassign wrongly", () -> admin.alterPartitionReassignments(
            Map.of(partition, Optional.of(new NewPartitionReassignment(List.of(9))))).all().get());
        attempt("reassignments", () -> admin.listPartitionReassignments().reassignments().get());
    }

    static void cluster(Admin admin) {
        attempt("quorum", () -> admin.describeMetadataQuorum().quorumInfo().get());
        for (short level : new short[] {1, 2})
            attempt("feature level " + level, () -> admin.updateFeatures(
                Map.of("group.version", new FeatureUpdate(level, FeatureUpdate.UpgradeType.UPGRADE)),
                new UpdateFeaturesOptions().validateOnly(level == 2)).all().get());
        attempt("unregister", () -> admin.unregisterBroker(9).all().get());
    }

    static void security(Admin admin) {
        var acl = new AclBinding(new ResourcePattern(ResourceType.TOPIC, plain, PatternType.LITERAL),
            new AccessControlEntry("User:bob", "*", AclOperation.READ, AclPermissionType.ALLOW));
        attempt("create acl", () -> admin.createAcls(List.of(acl)).all().get());
        attempt("describe acls", () -> admin.describeAcls(AclBindingFilter.ANY).values().get());
        attempt("delete acls", () -> admin.deleteAcls(List.of(acl.toFilter())).all().get());
        var entity = new ClientQuotaEntity(Map.of("user", "bob", "client-id", "c"));
        attempt("quota", () -> admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
            entity, List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 2048.0))))).all().get());
        attempt("bad quota", () -> admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
            entity, List.of(new ClientQuotaAlteration.Op("no_such", 1.0))))).all().get());
        attempt("quotas", () -> admin.describeClientQuotas(ClientQuotaFilter.contains(
            List.of(ClientQuotaFilterComponent.ofEntity("user", "bob")))).entities().get());
        attempt("all quotas", () -> admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get());
        attempt("remove quota", () -> admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
            entity, List.of(new ClientQuotaAlteration.Op("producer_byte_rate", null))))).all().get());
        attempt("scram", () -> admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
            "carol", new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), "secret"))).all().get());
        attempt("scram delete", () -> admin.alterUserScramCredentials(List.of(
            new UserScramCredentialDeletion("nobody", ScramMechanism.SCRAM_SHA_256))).all().get());
        attempt("scram users", () -> admin.describeUserScramCredentials().all().get());
        attempt("scram unknown", () -> admin.describeUserScramCredentials(List.of("nobody")).all().get());
    }

    static void deleteTopics(Admin admin) {
        attempt("delete", () -> admin.deleteTopics(List.of(prefix + "-configs")).all().get());
        attempt("delete unknown", () -> admin.deleteTopics(List.of("nowhere")).all().get());
        attempt("delete by id", () -> {
            var topic = admin.describeTopics(List.of(prefix + "-ids")).allTopicNames().get().get(prefix + "-ids");
            admin.deleteTopics(TopicCollection.ofTopicIds(List.of(topic.topicId()))).all().get();
        });
        attempt("delete unknown id", () -> admin.deleteTopics(
            TopicCollection.ofTopicIds(List.of(new Uuid(7, 7)))).all().get());
    }

    static void authenticate() {
        for (String mechanism : List.of("PLAIN", "SCRAM-SHA-256"))
            for (String password : List.of("secret", "wrong"))
                attempt(mechanism + " " + password, () -> {
                    String module = mechanism.equals("PLAIN") ? "plain.Plain" : "scram.Scram";
                    String user = mechanism.equals("PLAIN") ? "alice" : "carol";
                    try (Admin admin = Admin.create(config("bootstrap.servers", saslAddress,
                            "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", mechanism,
                            "sasl.jaas.config", "org.apache.kafka.common.security." + module
                                + "LoginModule required username=" + user + " password=" + password + ";"))) {
                        admin.describeCluster().nodes().get();
                    }
                });
    }
}
