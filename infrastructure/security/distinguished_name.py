"""The subject of a certificate as Java writes it (X500Principal, RFC 2253): the names of users.

The certificate has been verified by OpenSSL, so its DER is well-formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

#: The attributes that RFC 2253 has words for; others are OIDs with the bytes of their value.
_WORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
#: Tags of strings: UTF8, Printable, T61, IA5, General, BMP. Java reads all of them as UTF-8.
_STRINGS = (12, 19, 20, 22, 27, 30)
_ESCAPED = frozenset(',=+<>#;"\\')
_VERSION = 0xA0


class Element(NamedTuple):
    tag: int
    #: With tag and length.
    whole: bytes
    content: bytes


def subject_of(certificate: bytes) -> str:
    """Of a certificate in DER."""
    [signed, *_] = elements(next(elements(certificate)).content)
    fields = [each for each in elements(signed.content) if each.tag != _VERSION]
    # serial number, signature algorithm, issuer, validity, subject
    return name_of(fields[4].content)


def name_of(relative_names: bytes) -> str:
    """The content of a name in DER: the most specific part comes first."""
    parts = [_relative(one.content) for one in elements(relative_names)]
    return ",".join(reversed(parts))


def elements(der: bytes) -> Iterator[Element]:
    start = 0
    while start < len(der):
        size, content = der[start + 1], start + 2
        if size & 0x80:
            content += size & 0x7F
            size = int.from_bytes(der[start + 2 : content], "big")
        end = content + size
        yield Element(der[start], der[start:end], der[content:end])
        start = end


def _relative(attributes: bytes) -> str:
    return "+".join(map(_attribute, elements(attributes)))


def _attribute(pair: Element) -> str:
    kind, value = elements(pair.content)
    oid = _oid(kind.content)
    word = _WORDS.get(oid)
    if word is None or value.tag not in _STRINGS:
        return f"{word or oid}=#{value.whole.hex()}"
    return f"{word}={_escaped(value.content.decode('utf-8', 'replace'))}"


def _escaped(text: str) -> str:
    inner = text.strip(" \r")
    begin = len(text) - len(text.lstrip(" \r"))
    before, after = text[:begin], text[begin + len(inner) :]
    middle = "".join(_character(one) for one in inner)
    return "".join(f"\\{blank}" for blank in before) + middle + "".join(f"\\{b}" for b in after)


def _character(one: str) -> str:
    if one == "\0":
        return "\\00"
    return f"\\{one}" if one in _ESCAPED else one


def _oid(content: bytes) -> str:
    numbers = [0]
    for byte in content:
        numbers[-1] = numbers[-1] << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(0)
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:-1])))
