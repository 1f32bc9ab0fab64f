"""docs/testing-with-ottla.md: its programs in other languages run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT
from tests.e2e.node_packages import program, with_kafkajs
from tests.e2e.test_java import VERSIONS, jars, programs

EXAMPLES = ROOT / "docs/examples"

JAVA = """
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

class Main {
    public static void main(String[] arguments) throws Exception {
        try (OttlaBroker broker = new OttlaBroker()) {
            broker.post("/test/faults",
                "{\\"api\\": \\"Produce\\", \\"error\\": \\"NOT_LEADER_OR_FOLLOWER\\"}");
            Map<String, Object> configs = Map.of("bootstrap.servers", broker.bootstrapServers);
            StringSerializer text = new StringSerializer();
            try (var producer = new KafkaProducer<>(configs, text, text)) {
                var sent = producer.send(new ProducerRecord<>("orders", "coffee")).get();
                System.out.println(sent.offset());
            }
        }
    }
}
"""


def run(command: list[str], folder: Path, **environment: str) -> str:
    """With `ottla` on the PATH, as it is in this checkout."""
    ottla = folder / "ottla"
    ottla.write_text(f'#!/bin/sh\nexec {sys.executable} -m interfaces.main "$@"\n', "utf-8")
    ottla.chmod(0o755)
    environment |= {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_a_test_of_node_has_a_broker(tmp_path: Path) -> None:
    example = EXAMPLES / "kafkajs/test_with_a_broker.js"
    command = [program("node"), "--test", "--test-reporter=tap", str(example)]
    assert "# pass 1" in run(command, tmp_path, **with_kafkajs())


@pytest.mark.long
def test_a_test_of_java_has_a_broker(tmp_path: Path) -> None:
    found = programs()
    libraries = f"{jars(VERSIONS[0], found['mvn'])}/*"
    (tmp_path / "Main.java").write_text(JAVA, "utf-8")
    sources = [str(EXAMPLES / "java/OttlaBroker.java"), "Main.java"]
    run([found["javac"], "-cp", libraries, "-d", ".", *sources], tmp_path)
    assert run([found["java"], "-cp", f".:{libraries}", "Main"], tmp_path) == "0\n"
