import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;

/**
 * All settings of a client (its kind, name, type and default, separated by tabs); and of each
 * pattern that is a line in, which of the names in the first line fit: 1 or 0 of each, or "refused".
 */
public final class Names {
  public static void main(String[] arguments) throws Exception {
    show("consumer", ConsumerConfig.configDef());
    show("producer", ProducerConfig.configDef());
    show("admin", AdminClientConfig.configDef());
    System.out.println("patterns");
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<String> names = List.of(lines.readLine().split(" "));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      System.out.println(fitting(line, names));
    }
  }

  private static void show(String kind, ConfigDef settings) {
    for (ConfigDef.ConfigKey each : settings.configKeys().values()) {
      boolean isGiven = each.hasDefault() && each.defaultValue != null;
      System.out.println(
          String.join(
              "\t", kind, each.name, each.type.name(), isGiven ? each.defaultValue + "" : ""));
    }
  }

  private static String fitting(String pattern, List<String> names) {
    try {
      Pattern compiled = Pattern.compile(pattern);
      StringBuilder fitting = new StringBuilder();
      names.forEach(name -> fitting.append(compiled.matcher(name).matches() ? '1' : '0'));
      return fitting.toString();
    } catch (RuntimeException refusal) {
      return "refused";
    }
  }
}
