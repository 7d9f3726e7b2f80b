"""A folder of models for the tests: a bigram in ARPA form, small enough to make in a test."""

import json
from pathlib import Path

from analysis.ngrams import train_model, write_arpa

TEXT = [
    "The keys 1 are here .", "The keys 2 are here .", "The keys 3 is here .", "A key is there .",
]  # fmt: skip
URI = "arpa:./bigram.arpa"


def write_bigram(folder: Path, *, name: str = "bigram.arpa", more: str = "") -> Path:
    """Train on four sentences, and ``more``."""
    folder.mkdir(parents=True, exist_ok=True)
    text = [line.split() for line in (*TEXT, *([more] if more else []))]
    write_arpa(train_model(text, order=2), folder / name)
    return folder / name


def folder_with(root: Path, name: str, architecture: str) -> None:
    """A model as transformers would find it, without weights."""
    (root / name).mkdir(parents=True)
    (root / name / "config.json").write_text(json.dumps({"architectures": [architecture]}))
