"""Writes distinguished_names.tsv: names and mapping rules, and what Java and Kafka make of them.

`python -m tests.golden.distinguished_names` needs Java, javac and the jars of Kafka.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.oracle.kafka import find_jars

RECORDED = Path(__file__).with_suffix(".tsv")

CN, C, L, ST, STREET, O, OU = (f"2.5.4.{n}" for n in (3, 6, 7, 8, 9, 10, 11))  # noqa: E741
UID, DC = "0.9.2342.19200300.100.1.1", "0.9.2342.19200300.100.1.25"
EMAIL, SERIAL, TITLE = "1.2.840.113549.1.9.1", "2.5.4.5", "2.5.4.12"
UTF8, PRINTABLE, T61, IA5, BMP, NUMERIC, UNIVERSAL, GENERAL = 12, 19, 20, 22, 30, 18, 28, 27

#: Each name: relative names, each with attributes (type, tag, value).
Attribute = tuple[str, int, bytes]


def one(kind: str, text: str, tag: int = UTF8, encoding: str = "utf-8") -> list[Attribute]:
    return [(kind, tag, text.encode(encoding))]


NAMES: list[list[list[Attribute]]] = [
    [one(CN, "alice")],
    [one(C, "DE", PRINTABLE), one(O, "Ottla"), one(OU, "Test, Inc."), one(CN, "alice")],
    [one(DC, "org", IA5), one(DC, "example", IA5), one(UID, "a1"), one(CN, "x")],
    [one(L, "Berlin"), one(ST, "B"), one(STREET, "Weg 1"), one(CN, "x")],
    [one(EMAIL, "a@example.org", IA5), one(CN, "x")],
    [one(SERIAL, "0815", PRINTABLE), one(TITLE, "Dr."), one(CN, "x")],
    [[*one(CN, "both"), *one(UID, "u1")], one(O, "o")],
    [[*one(UID, "u1"), *one(CN, "both"), *one(OU, "z")]],
    *([one(CN, text)] for text in (
        " lead", "trail ", "  two  ", "a  b", "", " ", "   ", "#hash", "a#b", 'q"uote',
        "back\\slash", "a+b", "a=b", "<a>", "a;b", "a,b", "grüße", "日本", "\U0001f600",
        "tab\there", "nul\0", "cr\r", "\rcr", "new\nline",
        "a/b", "a:b'(c)?", "_under-*@!$%&", "\x7f", "\x01",
        "a\\ ", "A" * 200,
    )),
    [one(CN, "grüße", T61, "latin-1")],
    [one(CN, "wide", BMP, "utf-16-be")],
    [one(CN, "日本", BMP, "utf-16-be")],
    [one(CN, "123", NUMERIC, "ascii")],
    [one(CN, "general", GENERAL, "ascii")],
    [one(CN, "u", UNIVERSAL, "utf-32-be")],
    [one("1.2.3.4.5", "unknown")],
    [one("1.2.3.4.5", "unknown", IA5)],
    [one("2.999.1", "joint")],
    [],
]  # fmt: skip

_DN = "CN=alice,OU=ServiceUsers,O=Unknown,C=DE"
RULES: list[tuple[str, str]] = [
    (rules, name)
    for name in (_DN, "CN=Bob.Smith,OU=Admin", "C=DE", "")
    for rules in (
        "DEFAULT",
        "",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT",
        "RULE:^CN=(.*?),OU=(.*?),O=(.*?),C=(.*?)$/$1@$2/L , RULE:^.*[Cc][Nn]=([a-z.A-Z]*).*$/$1/U",
        "RULE:^.*CN=([a-zA-Z0-9.]*).*$/$1/L",
        "RULE:(.*)/x$1/",
        "RULE:.*/fixed/U,DEFAULT",
        "RULE:CN=(.*?),.*/$12/",
        "RULE:CN=(.*?),.*/$2/,DEFAULT",
        r"RULE:CN=(.*?),.*/\$1/",
        r"RULE:CN=(.*?),.*/a\/b$1/",
        "RULE:CN=(?<who>.*?),.*/${who}!/",
        "RULE:CN=(.*?),OU=(.*?)(,.*)?/$2$3/",
        "RULE:CN=(.*?),.*/$0/",
        "RULE:CN=(.*?),.*/$01/",
        "RULE:no/x/",
        "  DEFAULT  ",
        "DEFAULT,RULE:a/b/",
        "RULE:a/b",
        "RULE:a/b/X",
        "RULE:a/b/LU",
        "default",
        "RULE:(/b/",
        "RULE:[CN=]+.*/$1/",
        ",DEFAULT",
        "DEFAULT,",
        "DEFAULT,,DEFAULT",
        "RULE:CN=[^,]*,?(.*)/$1/,RULE:.*/never/",
    )
]

_JAVA = """
import java.io.*; import java.util.*;
import javax.security.auth.x500.X500Principal;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;
public class Names {
  public static void main(String[] words) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    for (String line; (line = in.readLine()) != null; ) {
      String[] parts = line.split("\\t", -1);
      String found;
      try {
        found = parts[0].equals("name")
            ? new X500Principal(HexFormat.of().parseHex(parts[1])).getName()
            : SslPrincipalMapper.fromRules(parts[1]).getName(parts[2]);
        found = HexFormat.of().formatHex(found.getBytes("UTF-8"));
      } catch (Throwable failure) {
        found = "!" + failure.getClass().getSimpleName();
      }
      out.println(found);
    }
  }
}
"""


def der(tag: int, content: bytes) -> bytes:
    if len(content) < 128:
        return bytes((tag, len(content))) + content
    size = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(size))) + size + content


def _oid(text: str) -> bytes:
    first, second, *rest = map(int, text.split("."))
    content = b""
    for number in (40 * first + second, *rest):
        septets = [number & 0x7F]
        while number := number >> 7:
            septets.insert(0, number & 0x7F | 0x80)
        content += bytes(septets)
    return der(6, content)


def name_in_der(name: list[list[Attribute]]) -> bytes:
    sets = (
        der(
            0x31, b"".join(der(0x30, _oid(kind) + der(tag, value)) for kind, tag, value in relative)
        )
        for relative in name
    )
    return der(0x30, b"".join(sets))


def main() -> None:
    lines = [f"name\t{name_in_der(name).hex()}" for name in NAMES]
    lines += [f"rule\t{rules}\t{name}" for rules, name in RULES]
    with TemporaryDirectory() as folder:
        (Path(folder) / "Names.java").write_text(_JAVA)
        command = ("java", "-cp", f"{find_jars()}/*", f"{folder}/Names.java")
        found = subprocess.run(
            command, input="\n".join(lines) + "\n", text=True, capture_output=True, check=True
        ).stdout.splitlines()
    pairs = zip(lines, found, strict=True)
    RECORDED.write_text("".join(f"{line}\t{result}\n" for line, result in pairs))


if __name__ == "__main__":
    main()
