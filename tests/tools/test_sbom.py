"""The parts list of lock files: every pin with its hashes, as CycloneDX that its own tool validates."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tools.locks import LOCKS, Pin
from tools.sbom import missing, pins_of, write_sbom

CYCLONEDX = shutil.which("cyclonedx-py") or shutil.which("cyclonedx-py", path=f"{sys.prefix}/sbom/bin")


@pytest.mark.skipif(CYCLONEDX is None, reason="needs cyclonedx-py: make .venv/sbom/.made")
@pytest.mark.parametrize("names", [("base",), ("base", "models", "torch-cpu")])
def test_the_document_is_valid_and_has_all_pins_and_hashes(tmp_path, names):
    locks = [LOCKS / f"{name}.txt" for name in names]
    pins = write_sbom(CYCLONEDX, tmp_path / "obelus.cdx.json", locks)
    document = json.loads((tmp_path / "obelus.cdx.json").read_text())
    assert (document["bomFormat"], document["metadata"]["component"]["name"]) == (
        "CycloneDX",
        "obelus-judgments",
    )
    listed = {(part["name"], part["version"]) for part in document["components"]}
    assert {pin.name for pin in pins} >= {"django", "numpy"} and ("torch" in dict(listed)) == (
        "models" in names
    )
    for lock in locks:  # counted without the code that wrote the document
        text = lock.read_text()
        lines = [line for line in text.splitlines() if "==" in line and line[0].isalnum()]
        for line in lines:
            name, _, version = line.split()[0].partition("==")
            assert (name, version) in listed, line
        written = {
            hash_["content"]
            for part in document["components"]
            for reference in part.get("externalReferences", [])
            for hash_ in reference.get("hashes", [])
        }
        assert {word.partition("sha256:")[2] for word in text.split() if "sha256:" in word} <= written


def test_a_document_that_lacks_a_pin_or_a_hash_is_told():
    pins = [Pin("a", "1", "", ("0a", "0b")), Pin("b", "2", "", ("0c",)), Pin("c", "3", "", ())]
    sums = [{"alg": "SHA-256", "content": "0a"}]
    document = {
        "components": [
            {"name": "a", "version": "1", "externalReferences": [{"hashes": sums}]},
            {"name": "c", "version": "3"},
        ]
    }
    assert missing(document, pins) == ["a 1", "b 2", "c 3"]
    sums.append({"alg": "SHA-256", "content": "0b"})
    assert missing(document, pins) == ["b 2", "c 3"]


def test_locks_that_cannot_be_installed_together_are_refused(tmp_path: Path):
    locks = [tmp_path / "base.txt", tmp_path / "other.txt"]
    locks[0].write_text("idna==3.10 --hash=sha256:0a\nsix==1.17 --hash=sha256:0b\n")
    locks[1].write_text("idna==3.10 --hash=sha256:0a\n")
    assert [pin.text for pin in pins_of(locks)] == [
        "idna==3.10 --hash=sha256:0a",
        "six==1.17 --hash=sha256:0b",
    ]
    locks[1].write_text("idna==3.11 --hash=sha256:0c\n")
    with pytest.raises(ValueError, match=r"other.txt has idna 3.11, another lock 3.10"):
        pins_of(locks)
