"""A log folder as `kafka-storage format --standalone` of Kafka 4.2 leaves it."""

from __future__ import annotations

import base64
from pathlib import Path

_BOOTSTRAP = """
AAAAAAAAAAAAAABHAAAAAAImjGfUACAAAAAAAAABoiJsbFEAAAGiImxsUf//////////////////AAAAASoAAAAIAAAAAxYA
AAAAAAAAAAAAAAAAAAAAAAAAAQAAAPEAAAAAAtlXwKwAAAAAAAUAAAGiImxsZgAAAaIibGxm//////////////////8AAAAG
OgAAAAEuAQwAEW1ldGFkYXRhLnZlcnNpb24AHQAAWgAAAgFOAQwAIWVsaWdpYmxlLmxlYWRlci5yZXBsaWNhcy52ZXJzaW9u
AAEAADQAAAQBKAEMAA5ncm91cC52ZXJzaW9uAAEAADQAAAYBKAEMAA5zaGFyZS52ZXJzaW9uAAEAADgAAAgBLAEMABBzdHJl
YW1zLnZlcnNpb24AAQAAQAAACgE0AQwAFHRyYW5zYWN0aW9uLnZlcnNpb24AAgAAAAAAAAAAAAcAAAA/AAAAAAKAONxqACAA
AAAAAAABoiJsbGcAAAGiImxsZ///////////////////AAAAARoAAAAIAAAABAYAAAAA
"""
_VOTERS = """
AAAAAAAAAAAAAACaAAAAAAKr/LvMACAAAAACAAABoiKHDqsAAAGiIocOq///////////////////AAAAAyoAAAAIAAAAAxYA
AAAAAaIihw6jAAAeAAACCAAAAAUKAAAAAQAAggEAAAQIAAAABm4AAAIAAAAB3STahcPnRtSLJox3fEk+zAILQ09OVFJPTExF
UgoxMjcuMC4wLjG5IwAAAAABAAAAAAAAAAAAAAADAAAAPwAAAAACVgCcnQAgAAAAAAAAAaIihw6xAAABoiKHDrH/////////
/////////wAAAAEaAAAACAAAAAQGAAAAAA==
"""
DIRECTORY_ID = "Gfni2fUMRKeX6FJpGk08Uw"


def formatted(folder: Path, cluster_id: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "meta.properties").write_text(
        f"#\n#now\nnode.id=1\ndirectory.id={DIRECTORY_ID}\nversion=1\ncluster.id={cluster_id}\n"
    )
    (folder / "bootstrap.checkpoint").write_bytes(base64.b64decode(_BOOTSTRAP))
    metadata = folder / "__cluster_metadata-0"
    metadata.mkdir()
    (metadata / "00000000000000000000-0000000000.checkpoint").write_bytes(base64.b64decode(_VOTERS))
    return folder
