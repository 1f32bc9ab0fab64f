// java -cp 'FOLDER_OF_JARS/*' tests/golden/compaction/Clean.java < LINES
//
// Runs the cleaner of Apache Kafka. Each line of the input is one log as JSON: its batches in hex,
// and passes with the first dirty offset, the first uncleanable offset (where the active segment
// begins), the time and delete.retention.ms. Each line of the output has the batches after each pass.

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

class Clean {
    static final ObjectMapper JSON = new ObjectMapper();
    static final int FOREVER_MS = Integer.MAX_VALUE;
    static final int MAP_BYTES = 4 << 20;
    static final int IO_BYTES = 1 << 20;
    static final KafkaScheduler SCHEDULER = new KafkaScheduler(1, true);

    public static void main(String[] args) throws Exception {
        SCHEDULER.startup();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ObjectNode log = (ObjectNode) JSON.readTree(line);
            System.out.println(JSON.writeValueAsString(cleaned(log)));
        }
        System.exit(0);
    }

    static List<List<String>> cleaned(ObjectNode input) throws Exception {
        File folder = Files.createTempDirectory("clean").toFile();
        File data = new File(folder, "compacted-0");
        var results = new ArrayList<List<String>>();
        UnifiedLog log = null;
        for (var pass : input.get("passes")) {
            var config = new LogConfig(Map.of(
                "cleanup.policy", "compact",
                "delete.retention.ms", pass.get("retention").asText()));
            if (log == null) {
                log = open(data, config);
                for (var batch : input.get("batches"))
                    append(log, HexFormat.of().parseHex(batch.asText()));
            }
            log.updateConfig(config);
            split(log, pass.get("end").asLong());
            var throttler = new Throttler(Double.MAX_VALUE, 1000, "c", "b", Time.SYSTEM);
            var cleaner = new Cleaner(0, new SkimpyOffsetMap(MAP_BYTES), IO_BYTES, IO_BYTES, 0.9,
                throttler, Time.SYSTEM, partition -> { });
            var toClean = new LogToClean(
                log, pass.get("dirty").asLong(), pass.get("end").asLong(), true);
            cleaner.doClean(toClean, pass.get("now").asLong());
            results.add(batches(log));
        }
        log.close();
        return results;
    }

    static UnifiedLog open(File data, LogConfig config) throws Exception {
        data.mkdir();
        return UnifiedLog.create(data, config, 0, 0, SCHEDULER, new BrokerTopicStats(),
            Time.SYSTEM, FOREVER_MS, new ProducerStateManagerConfig(FOREVER_MS, false), FOREVER_MS,
            new LogDirFailureChannel(1), true, Optional.empty());
    }

    static void append(UnifiedLog log, byte[] batch) throws Exception {
        var records = MemoryRecords.readableRecords(ByteBuffer.wrap(batch));
        // A segment per batch: any offset may be where the active one begins.
        if (log.logEndOffset() > 0)
            log.roll();
        log.appendAsFollower(records, records.batches().iterator().next().partitionLeaderEpoch());
        log.updateHighWatermark(log.logEndOffset());
    }

    static void split(UnifiedLog log, long end) throws Exception {
        boolean found = log.logEndOffset() == end;
        if (found)
            log.roll();
        for (var segment : log.logSegments())
            found |= segment.baseOffset() == end;
        if (!found)
            throw new IllegalArgumentException("no segment begins at " + end);
    }

    static List<String> batches(UnifiedLog log) throws Exception {
        var found = new ArrayList<String>();
        for (var segment : log.logSegments()) {
            ByteBuffer buffer = ByteBuffer.allocate(segment.log().sizeInBytes());
            segment.log().readInto(buffer, 0);
            for (RecordBatch batch : MemoryRecords.readableRecords(buffer).batches()) {
                ByteBuffer one = ByteBuffer.allocate(batch.sizeInBytes());
                ((org.apache.kafka.common.record.MutableRecordBatch) batch).writeTo(one);
                found.add(HexFormat.of().formatHex(one.array()));
            }
        }
        return found;
    }
}
