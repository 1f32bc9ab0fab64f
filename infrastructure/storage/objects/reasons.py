"""What errors of obstore mean for an operator.

They are texts: the response of the server, or how the HTTP client describes its own failure.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

#: By the codes of S3's error responses.
_MEANINGS = {
    "NoSuchBucket": "there is no such bucket",
    "InvalidBucketName": "there is no such bucket",
    "AccessDenied": "access denied",
    "AllAccessDisabled": "access denied",
    "InvalidAccessKeyId": "the access key is not known (AWS_ACCESS_KEY_ID)",
    "SignatureDoesNotMatch": "the secret key is wrong (AWS_SECRET_ACCESS_KEY)",
    "ExpiredToken": "the credentials have expired (AWS_SESSION_TOKEN)",
    "InvalidToken": "the session token is wrong (AWS_SESSION_TOKEN)",
    "RequestTimeTooSkewed": "the clock of this machine is wrong",
    "AuthorizationHeaderMalformed": "the region is wrong (AWS_REGION)",
    "PermanentRedirect": "the region is wrong (AWS_REGION)",
    "IllegalLocationConstraintException": "the region is wrong (AWS_REGION)",
}
_NO_CREDENTIALS = (
    "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (profiles are not read)"
)
_NO_KEY = "NoSuchKey"
#: Of a response, or of one object among those that were to be deleted.
_CODE = re.compile(r"<Code>\s*(\w+)\s*</Code>|\(code: (\w+)\)")
_MESSAGE = re.compile(r"<Message>([^<]{1,200})")
_REQUEST = re.compile(r"Error performing (?P<method>[A-Z]+) (?P<url>\S+) in ")
_STATUS = re.compile(r"Server returned non-2xx status code: (\d+[^:\n]*)")
_CERTIFICATE = re.compile(r"InvalidCertificate\(\s*(\w+)")
#: Of the system: "Connection refused", "failed to lookup address information: ...".
_OF_SYSTEM = re.compile(r'(?:message|error): "([^"]+)"')
#: Parts of errors before any request to the bucket.
_OF_CREDENTIALS = (
    "MissingSecretAccessKey",
    "MissingAccessKeyId",
    "/latest/api/token",
    "/latest/meta-data/",
)


def is_missing(error: Exception) -> bool:
    """Whether the bucket responds that it has no such object; it may be a 404 of another server."""
    return _code_of(str(error)) == _NO_KEY


def is_beyond_end(error: Exception) -> bool:
    return _code_of(str(error)) == "InvalidRange"


def reason_of(error: Exception) -> str:
    """One line, without secrets."""
    text = str(error)
    code = _code_of(text)
    if code is not None:
        return _MEANINGS.get(code) or _named(code, text)
    if any(part in text for part in _OF_CREDENTIALS):
        return _NO_CREDENTIALS
    if "BareRedirect" in text:
        return _MEANINGS["PermanentRedirect"]
    server = _server_of(text)
    if status := _STATUS.search(text):
        return f"{server} responds {status[1].strip()}"
    if "kind: Timeout" in text:
        return f"{server} did not respond in time"
    if certificate := _CERTIFICATE.search(text):
        return f"the certificate of {server} is not trusted: {certificate[1]}"
    if "kind: Connect" in text:
        found = _OF_SYSTEM.search(text)
        return f"{server} cannot be reached{': ' if found else ''}{found[1] if found else ''}"
    if "kind: Interrupted" in text:
        return f"{server} closed the connection"
    return text.strip().partition("\n")[0].rpartition(" - ")[2].removeprefix("Generic S3 error: ")


def _code_of(text: str) -> str | None:
    found = _CODE.search(text)
    return found and (found[1] or found[2])


def _named(code: str, text: str) -> str:
    found = _MESSAGE.search(text)
    return f"{code}: {' '.join(found[1].split())}" if found else code


def _server_of(text: str) -> str:
    found = _REQUEST.search(text)
    if found is None:
        return "the server"
    parts = urlsplit(found["url"])
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
