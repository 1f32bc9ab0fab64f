// java -cp 'FOLDER_OF_JARS/*' tests/golden/end_markers/Markers.java > tests/golden/end_markers/kafka.jsonl
//
// End markers as the classes of Apache Kafka write them, in hex, each with its fields.

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;

class Markers {
    public static void main(String[] args) {
        write(0, 0, 0L, false, 0, 0, 0);
        write(4711, 3, 1_700_000_000_123L, true, 17, 42, 0);
        write(Long.MAX_VALUE, Short.MAX_VALUE, Long.MAX_VALUE, false, Integer.MAX_VALUE, 1L << 40, 7);
    }

    static void write(long producerId, int epoch, long timestamp, boolean committed,
                      int coordinatorEpoch, long offset, int leaderEpoch) {
        var type = committed ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
        ByteBuffer batch = MemoryRecords.withEndTransactionMarker(offset, timestamp, leaderEpoch,
            producerId, (short) epoch, new EndTransactionMarker(type, coordinatorEpoch)).buffer();
        byte[] bytes = new byte[batch.remaining()];
        batch.get(bytes);
        System.out.printf("{\"marker\": [%d, %d, %d, %b], \"timestamp\": %d, \"offset\": %d, "
            + "\"leader_epoch\": %d, \"batch\": \"%s\"}%n", producerId, epoch, coordinatorEpoch,
            committed, timestamp, offset, leaderEpoch, HexFormat.of().formatHex(bytes));
    }
}
