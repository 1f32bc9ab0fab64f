// java -cp 'FOLDER_OF_JARS/*' tests/golden/Build.java, from the root of the repository.
//
// Writes tests/golden/API/built.jsonl for every API that wire/messages declares: each version, each
// direction, as Kafka's own generated classes write it. The fields and their versions are read from
// the message specifications inside kafka-clients.jar. Two examples of each: "filled" has no field
// at its default, "least" has them all there, null where that is allowed. Beside the bytes stands
// what Kafka's JSON converter says they mean.
//
// With the argument `records` it writes tests/golden/metadata_records/built.jsonl instead: every
// version of every record of the metadata log.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.core.JsonParser;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageSizeAccumulator;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

class Build {
    static final ObjectMapper JSON =
        new ObjectMapper().configure(JsonParser.Feature.ALLOW_COMMENTS, true);
    static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    public static void main(String[] args) throws Exception {
        if (List.of(args).contains("records")) {
            records();
            return;
        }
        List<String> modules;
        try (var files = Files.list(Path.of("interfaces/kafka/wire/messages"))) {
            modules = files.map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".py") && !name.startsWith("_"))
                .map(name -> name.substring(0, name.length() - 3)).sorted().toList();
        }
        for (String module : modules) {
            var lines = new ArrayList<String>();
            for (String direction : List.of("request", "response"))
                build(module, direction, lines);
            Path file = Path.of("tests/golden", module, "built.jsonl");
            Files.createDirectories(file.getParent());
            Files.writeString(file, String.join("\n", lines) + "\n");
        }
    }

    static void build(String module, String direction, List<String> lines) throws Exception {
        String name = "";
        for (String word : (module + "_" + direction).split("_"))
            name += word.substring(0, 1).toUpperCase() + word.substring(1);
        JsonNode spec;
        try (var resource = Build.class.getResourceAsStream("/common/message/" + name + ".json")) {
            spec = JSON.readTree(resource);
        }
        int[] versions = range(spec.get("validVersions").asText());
        for (int version = versions[0]; version <= versions[1]; version++) {
            for (boolean filled : new boolean[] {true, false}) {
                JsonNode fields = new Example(spec, version, filled).message();
                ApiMessage message = read(name, fields, (short) version);
                byte[] frame = frame(spec.get("apiKey").asInt(), direction, message, (short) version);
                ObjectNode line = NODES.objectNode();
                line.put("message", direction).put("version", version);
                line.put("example", filled ? "filled" : "least");
                line.put("frame", HexFormat.of().formatHex(frame));
                line.set("fields", written(name, message, (short) version));
                lines.add(JSON.writeValueAsString(line));
            }
        }
    }

    static void records() throws Exception {
        var lines = new ArrayList<String>();
        var serde = MetadataRecordSerde.INSTANCE;
        for (MetadataRecordType type : MetadataRecordType.values()) {
            String name = type.newMetadataRecord().getClass().getSimpleName();
            String file = name.equals("ZkMigrationStateRecord") ? "ZkMigrationRecord" : name;
            JsonNode spec;
            try (var resource = Build.class.getResourceAsStream("/common/metadata/" + file + ".json")) {
                spec = JSON.readTree(resource);
            }
            Class<?> converter = Class.forName("org.apache.kafka.common.metadata." + name + "JsonConverter");
            for (short version = type.lowestSupportedVersion(); version <= type.highestSupportedVersion(); version++) {
                for (boolean filled : new boolean[] {true, false}) {
                    JsonNode fields = new Example(spec, version, filled).message();
                    var message = (ApiMessage) converter.getMethod("read", JsonNode.class, short.class)
                        .invoke(null, fields, version);
                    var cache = new ObjectSerializationCache();
                    var record = new ApiMessageAndVersion(message, version);
                    ByteBuffer buffer = ByteBuffer.allocate(serde.recordSize(record, cache));
                    serde.write(record, cache, new ByteBufferAccessor(buffer));
                    ObjectNode line = NODES.objectNode();
                    line.put("record", name).put("version", version);
                    line.put("example", filled ? "filled" : "least");
                    line.put("bytes", HexFormat.of().formatHex(buffer.array()));
                    line.set("fields", (JsonNode) converter
                        .getMethod("write", message.getClass(), short.class, boolean.class)
                        .invoke(null, message, version, false));
                    lines.add(JSON.writeValueAsString(line));
                }
            }
        }
        Path file = Path.of("tests/golden/metadata_records/built.jsonl");
        Files.createDirectories(file.getParent());
        Files.writeString(file, String.join("\n", lines) + "\n");
    }

    static Class<?> converter(String name) throws Exception {
        return Class.forName("org.apache.kafka.common.message." + name + "DataJsonConverter");
    }

    static ApiMessage read(String name, JsonNode fields, short version) throws Exception {
        return (ApiMessage) converter(name).getMethod("read", JsonNode.class, short.class)
            .invoke(null, fields, version);
    }

    static JsonNode written(String name, ApiMessage message, short version) throws Exception {
        return (JsonNode) converter(name)
            .getMethod("write", message.getClass(), short.class, boolean.class)
            .invoke(null, message, version, false);
    }

    /** Header and body, without the length in front. */
    static byte[] frame(int key, String direction, ApiMessage message, short version) {
        ApiKeys api = ApiKeys.forId(key);
        boolean asks = direction.equals("request");
        Message header = asks
            ? new RequestHeaderData().setRequestApiKey((short) key).setRequestApiVersion(version)
                .setCorrelationId(1_000_000 + version).setClientId("built")
            : new ResponseHeaderData().setCorrelationId(1_000_000 + version);
        short headerVersion =
            asks ? api.requestHeaderVersion(version) : api.responseHeaderVersion(version);
        var cache = new ObjectSerializationCache();
        var size = new MessageSizeAccumulator();
        header.addSize(size, cache, headerVersion);
        message.addSize(size, cache, version);
        ByteBuffer buffer = ByteBuffer.allocate(size.totalSize());
        var writer = new ByteBufferAccessor(buffer);
        header.write(writer, cache, headerVersion);
        message.write(writer, cache, version);
        if (buffer.hasRemaining()) throw new IllegalStateException(api + " left bytes unwritten");
        return buffer.array();
    }

    /** "3" -> 3, 3; "3+" -> 3, 32767; "3-5" -> 3, 5; "none" -> 1, 0. */
    static int[] range(String versions) {
        if (versions.equals("none")) return new int[] {1, 0};
        if (versions.endsWith("+"))
            return new int[] {Integer.parseInt(versions.substring(0, versions.length() - 1)), 32767};
        String[] ends = versions.split("-");
        return new int[] {Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1])};
    }

    /** One instance of a message, as the JSON that Kafka's converter reads. */
    static class Example {
        final JsonNode spec;
        final int version;
        final boolean filled;
        final Map<String, JsonNode> structs = new HashMap<>();
        int count = 0;

        Example(JsonNode spec, int version, boolean filled) {
            this.spec = spec;
            this.version = version;
            this.filled = filled;
            for (JsonNode struct : spec.path("commonStructs"))
                structs.put(struct.get("name").asText(), struct.get("fields"));
        }

        JsonNode message() {
            return struct(spec.get("fields"));
        }

        ObjectNode struct(JsonNode fields) {
            ObjectNode struct = NODES.objectNode();
            for (JsonNode field : fields) {
                boolean tagged = field.has("tag");
                if (!has(field, "versions") || tagged && !has(field, "taggedVersions")) continue;
                if (tagged && !filled) continue;
                String name = field.get("name").asText();
                struct.set(name.substring(0, 1).toLowerCase() + name.substring(1), value(field));
            }
            return struct;
        }

        boolean has(JsonNode field, String which) {
            int[] ends = range(field.path(which).asText("none"));
            return ends[0] <= version && version <= ends[1];
        }

        JsonNode value(JsonNode field) {
            String type = field.get("type").asText();
            if (!filled && has(field, "nullableVersions")) return NODES.nullNode();
            if (!type.startsWith("[]")) return single(type, field);
            var array = NODES.arrayNode();
            if (filled) array.add(single(type.substring(2), field)).add(single(type.substring(2), field));
            return array;
        }

        JsonNode single(String type, JsonNode field) {
            String given = field.path("default").asText();
            if (!filled) count = 0;
            else count++;
            switch (type) {
                case "bool":
                    return NODES.booleanNode(filled != given.equals("true"));
                case "int8":
                    return NODES.numberNode(filled ? 100 - count : number(given));
                case "int16":
                    return NODES.numberNode(filled ? 1000 + count : number(given));
                case "uint16":
                    return NODES.numberNode(filled ? 40_000 + count : number(given));
                case "int32":
                    return NODES.numberNode(filled ? -100_000 - count : number(given));
                case "int64":
                    return NODES.numberNode(filled ? (1L << 40) + count : number(given));
                case "float64":
                    return NODES.numberNode(filled ? count + 0.25 : 0.0);
                case "string":
                    return NODES.textNode(filled ? field.get("name").asText() + "-é-" + count : given);
                case "uuid":
                    return NODES.textNode((filled ? new Uuid(-count, count) : Uuid.ZERO_UUID).toString());
                case "bytes":
                    return NODES.binaryNode(filled ? new byte[] {0, (byte) count, -1} : new byte[0]);
                case "records":
                    return NODES.binaryNode(filled ? batch() : new byte[0]);
                default:
                    if (field.has("fields")) structs.put(type, field.get("fields"));
                    return struct(structs.get(type));
            }
        }

        static long number(String given) {
            return given.isEmpty() ? 0 : Long.decode(given);
        }

        byte[] batch() {
            byte[] value = ("value " + count).getBytes(StandardCharsets.UTF_8);
            ByteBuffer buffer = MemoryRecords.withRecords(
                Compression.NONE, new SimpleRecord(1_700_000_000_000L, null, value)).buffer();
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        }
    }
}
