import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A broker for tests: in JUnit, a static field that is closed in @AfterAll. */
public class OttlaBroker implements AutoCloseable {
    public final String bootstrapServers;
    public final String adminUrl;
    private final Process process;

    public OttlaBroker() throws IOException, InterruptedException {
        Path ready = Files.createTempDirectory("ottla").resolve("ready.json");
        process = new ProcessBuilder("ottla", "serve", "--testing", "--exit-with-stdin",
                "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--storage", "memory://",
                "--ready-file", ready.toString())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
        while (!Files.exists(ready)) {
            if (!process.isAlive()) throw new IOException("ottla serve has ended");
            Thread.sleep(5);
        }
        String facts = Files.readString(ready);
        bootstrapServers = find(facts, "\"bootstrap_servers\": \"(.*?)\"");
        adminUrl = "http://" + find(facts, "\"admin\": \\[\\s*\"(.*?)\"");
    }

    /** post("/test/clock", "{\"advance_ms\": 600000}") */
    public String post(String path, String json) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(adminUrl + path))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json)).build();
        var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        if (response.statusCode() >= 400) throw new IOException(response.body());
        return response.body();
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
    }

    private static String find(String text, String pattern) throws IOException {
        Matcher found = Pattern.compile(pattern).matcher(text);
        if (!found.find()) throw new IOException(text);
        return found.group(1);
    }
}
