import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import kafka.admin.ConfigCommand;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.AclCommand;
import org.apache.kafka.tools.ClusterTool;
import org.apache.kafka.tools.DeleteRecordsCommand;
import org.apache.kafka.tools.FeatureCommand;
import org.apache.kafka.tools.LeaderElectionCommand;
import org.apache.kafka.tools.LogDirsCommand;
import org.apache.kafka.tools.MetadataQuorumCommand;
import org.apache.kafka.tools.TopicCommand;
import org.apache.kafka.tools.TransactionsCommand;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;
import org.apache.kafka.tools.reassign.ReassignPartitionsCommand;

/**
 * Kafka's own tools, again and again in one JVM. A line in (a tool and its arguments, separated by
 * tabs) gives a line out: all that it printed, in base64.
 */
public final class Tools {
  interface Tool {
    void main(String... arguments) throws Exception;
  }

  static final Map<String, Tool> TOOLS =
      Map.ofEntries(
          Map.entry("kafka-acls", AclCommand::main),
          Map.entry("kafka-cluster", ClusterTool::main),
          Map.entry("kafka-configs", ConfigCommand::main),
          Map.entry("kafka-consumer-groups", ConsumerGroupCommand::main),
          Map.entry("kafka-delete-records", DeleteRecordsCommand::main),
          Map.entry("kafka-features", FeatureCommand::main),
          Map.entry("kafka-leader-election", LeaderElectionCommand::main),
          Map.entry("kafka-log-dirs", LogDirsCommand::main),
          Map.entry("kafka-metadata-quorum", MetadataQuorumCommand::main),
          Map.entry("kafka-reassign-partitions", ReassignPartitionsCommand::main),
          Map.entry("kafka-topics", TopicCommand::main),
          Map.entry("kafka-transactions", TransactionsCommand::main));

  static final class Ended extends RuntimeException {}

  /** What the tool has printed until it ends: kafka-topics catches and prints what ends it. */
  static byte[] atExit;

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream screen = new PrintStream(printed, true, StandardCharsets.UTF_8);
    System.setOut(screen);
    System.setErr(screen);
    Exit.setExitProcedure(
        (code, message) -> {
          atExit = atExit == null ? printed.toByteArray() : atExit;
          throw new Ended();
        });
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      printed.reset();
      atExit = null;
      try {
        String[] parts = line.split("\t");
        TOOLS.get(parts[0]).main(Arrays.copyOfRange(parts, 1, parts.length));
      } catch (Ended ended) {
        // with a message on the screen
      }
      byte[] all = atExit == null ? printed.toByteArray() : atExit;
      answers.println(Base64.getEncoder().encodeToString(all));
      answers.flush();
    }
  }
}
