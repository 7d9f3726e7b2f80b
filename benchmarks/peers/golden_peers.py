"""Sums of the golden models by minicons and lm-evaluation-harness, written down once.

``python -m benchmarks.peers.golden_peers PEERS/bin/python`` writes ``golden_peers.json`` beside the
tests anew; PEERS is an environment with both packages (docs/develop.md). The tests need neither of them.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.scoring.golden_models import SENTENCES, neural

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "analysis" / "scoring" / "golden_peers.json"
DRIVER = ROOT / "benchmarks" / "peers" / "scoring_driver.py"
ASKED = {  # our model: what a peer is asked for the same number
    "causal, GPT-2": [("minicons", "causal", {}), ("lm-eval", "lm-eval", {})],
    "causal, Llama": [("minicons", "causal", {}), ("lm-eval", "lm-eval", {})],
    "masked, original": [("minicons", "masked", {"metric": "original"})],
    "masked, word by word": [("minicons", "masked", {"metric": "within_word_l2r"})],
}


def sums(python: str, folder: str, kind: str, options: dict[str, str]) -> list[float]:
    """Ask a peer for the sums of all sentences, one at a time: it may pad as it likes."""
    questions = [
        {"open": kind, "folder": folder},
        {"kind": kind, "batch": 1, "sentences": SENTENCES, **options},
    ]
    process = subprocess.run(
        [python, str(DRIVER)],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        text=True,
        check=True,
    )
    return [round(value, 6) for value in json.loads(process.stdout.splitlines()[-1])["sums"]]


def main() -> None:
    """Write the file anew."""
    python = sys.argv[1]
    packages = ("minicons", "lm_eval", "transformers", "torch")
    program = (
        f"from importlib.metadata import version; print(*(f'{{one}} {{version(one)}}' for one in {packages}))"
    )
    versions = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    peer_sums: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        addresses = dict(neural(Path(folder)))
        for name, peers in ASKED.items():
            place = addresses[name].partition(":")[2].partition("?")[0]
            peer_sums[name] = {peer: sums(python, place, kind, options) for peer, kind, options in peers}
    document = {"versions": dict(zip(versions[::2], versions[1::2], strict=True)), "sums": peer_sums}
    GOLDEN.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
