// java -cp 'libs/*' Share.java ADDRESS: share groups, and what else only kafka-clients 4.2 has.

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.*;

class Share {
    interface Action { void run() throws Exception; }

    static void attempt(String what, Action action) {
        try {
            action.run();
        } catch (Throwable error) {
            System.out.println("  share " + what + ": " + (error.getCause() == null ? error : error.getCause()));
        }
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", args[0], "client.id", "golden",
            "group.id", "share", "share.acknowledgement.mode", "explicit");
        var partition = new TopicPartition("share-topic", 0);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0], "client.id", "golden"))) {
            attempt("create", () -> admin.createTopics(List.of(new NewTopic("share-topic", 1, (short) 1))).all().get());
            attempt("config", () -> admin.incrementalAlterConfigs(Map.of(
                new ConfigResource(ConfigResource.Type.GROUP, "share"), List.of(new AlterConfigOp(
                new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET)))).all().get());
            try (var producer = new KafkaProducer<>(Map.of("bootstrap.servers", args[0], "client.id", "golden"),
                    new StringSerializer(), new StringSerializer())) {
                for (int number = 0; number < 5; number++)
                    producer.send(new ProducerRecord<>("share-topic", "value " + number)).get();
            }
            try (var consumer = new KafkaShareConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of("share-topic"));
                int seen = 0;
                for (int turn = 0; seen < 5 && turn < 40; turn++) {
                    var records = consumer.poll(Duration.ofMillis(300));
                    for (var record : records)
                        consumer.acknowledge(record, seen++ % 2 == 0 ? AcknowledgeType.ACCEPT : AcknowledgeType.REJECT);
                    if (!records.isEmpty()) consumer.commitSync();
                }
                System.out.println("  share group saw " + seen);
                consumer.poll(Duration.ofMillis(700));
                attempt("describe", () -> admin.describeShareGroups(List.of("share")).all().get());
                attempt("describe unknown", () -> admin.describeShareGroups(List.of("nobody")).all().get());
                attempt("offsets", () -> admin.listShareGroupOffsets(
                    Map.of("share", new ListShareGroupOffsetsSpec())).all().get());
                attempt("alter live", () -> admin.alterShareGroupOffsets("share", Map.of(partition, 1L)).all().get());
            }
            attempt("alter", () -> admin.alterShareGroupOffsets("share", Map.of(partition, 1L)).all().get());
            attempt("delete offsets", () -> admin.deleteShareGroupOffsets("share", Set.of("share-topic")).all().get());
            attempt("delete group", () -> admin.deleteShareGroups(List.of("share")).all().get());
            attempt("regex", () -> {
                for (String regex : List.of("share-.*", "(?=x)"))
                    try (var consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", args[0], "client.id", "golden",
                            "group.id", "regex", "group.protocol", "consumer"),
                            new StringDeserializer(), new StringDeserializer())) {
                        consumer.subscribe(new SubscriptionPattern(regex));
                        for (int turn = 0; turn < 5; turn++) consumer.poll(Duration.ofMillis(300));
                    }
            });
            attempt("resources", () -> admin.listConfigResources().all().get());
            attempt("groups", () -> admin.listGroups(new ListGroupsOptions()).all().get());
            attempt("classic groups", () -> admin.describeClassicGroups(List.of("nobody")).all().get());
            for (OffsetSpec spec : List.of(OffsetSpec.earliestLocal(), OffsetSpec.latestTiered(),
                    OffsetSpec.earliestPendingUpload()))
                attempt("offset", () -> admin.listOffsets(Map.of(partition, spec)).all().get());
        }
        System.exit(0);
    }
}
