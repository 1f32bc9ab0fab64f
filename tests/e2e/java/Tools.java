import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;

/**
 * kafka-consumer-groups, again and again in one JVM. A line in (its arguments, separated by tabs)
 * gives a line out: all that it printed, in base64.
 */
public final class Tools {
  static final class Ended extends RuntimeException {}

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    Exit.setExitProcedure(
        (code, message) -> {
          throw new Ended();
        });
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      ByteArrayOutputStream printed = new ByteArrayOutputStream();
      PrintStream screen = new PrintStream(printed, true, StandardCharsets.UTF_8);
      System.setOut(screen);
      System.setErr(screen);
      try {
        ConsumerGroupCommand.main(line.split("\t"));
      } catch (Ended ended) {
        // with a message on the screen
      }
      answers.println(Base64.getEncoder().encodeToString(printed.toByteArray()));
      answers.flush();
    }
  }
}
