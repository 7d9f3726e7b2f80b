"""What the benchmarks of neural scorers share: seeded models, pairs, turns, peers.

Everything runs on one core with one torch thread. Models have the size of a published one and random weights
(seed 0; two-dimensional weights times 3, so that probabilities differ), tokenizers of 3,000 types are trained
on the BLiMP sentences; speeds and equality mean something, accuracies do not.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "blimp"
DRIVER = Path(__file__).resolve().parents[1] / "peers" / "scoring_driver.py"
TYPES, CORE = 3_000, "1"
EQUAL = 1e-4
NO_MODELS = "torch or transformers is not installed: make install-models. Nothing is measured."
NO_DATA = "There are no BLiMP paradigms in {}: give a folder of them by --data or BLIMP. Nothing is measured."
NO_PEERS = """The peers are not here; ours is measured alone. To have them:
  python -m venv FOLDER && FOLDER/bin/pip install torch==2.13.0 minicons==0.3.39 lm_eval==0.4.13
  PEERS_PYTHON=FOLDER/bin/python and run this again."""

Pair = tuple[str, str]
Floats = np.ndarray[Any, np.dtype[np.float64]]


def pin() -> None:
    """Keep to one core and one thread; the core is named by ``CORE``."""
    with suppress(AttributeError, OSError):  # not on every system, and the core may not exist
        os.sched_setaffinity(0, {int(os.environ.get("CORE", CORE))})
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
        os.environ[name] = "1" if name != "TOKENIZERS_PARALLELISM" else "false"
    with suppress(ImportError):
        import torch

        torch.set_num_threads(1)


def ready(data: Path) -> bool:
    """Whether there are the models' packages and the pairs; says what lacks."""
    if not all(find_spec(name) for name in ("torch", "transformers")):
        print(NO_MODELS)
        return False
    if not any(data.glob("*.jsonl")):
        print(NO_DATA.format(data))
        return False
    return True


def read_pairs(folder: Path) -> dict[str, list[Pair]]:
    """The minimal pairs of every paradigm in a folder."""
    pairs_by_paradigm = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        pairs_by_paradigm[path.stem] = [(row["sentence_good"], row["sentence_bad"]) for row in rows]
    return pairs_by_paradigm


def mixed(paradigms: dict[str, list[Pair]], count: int) -> list[Pair]:
    """So many pairs drawn from all paradigms."""
    every = [pair for pairs in paradigms.values() for pair in pairs]
    places = np.random.default_rng(0).permutation(len(every))[:count]
    return [every[place] for place in places]


def sentences_of(pairs: Sequence[Pair]) -> list[str]:
    """Good and bad, one after the other."""
    return [sentence for pair in pairs for sentence in pair]


def causal_folder(folder: Path, text: Sequence[str]) -> Path:
    """A model of the size of GPT-2 small (124 million weights) with byte-level BPE."""
    import tokenizers as tk
    import transformers

    backend = tk.Tokenizer(tk.models.BPE())
    backend.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tk.decoders.ByteLevel()
    trainer = tk.trainers.BpeTrainer(
        vocab_size=TYPES,
        special_tokens=["<s>"],
        initial_alphabet=tk.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(text, trainer)
    marks = {"bos_token": "<s>", "eos_token": "<s>", "pad_token": "<s>"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **marks)
    config = transformers.GPT2Config(bos_token_id=0, eos_token_id=0, pad_token_id=0)
    return _saved(folder, "AutoModelForCausalLM", config, tokenizer)


def masked_folder(folder: Path, text: Sequence[str]) -> Path:
    """A model of the size of BERT base (110 million weights) with uncased WordPiece."""
    import tokenizers as tk
    import transformers

    backend = tk.BertWordPieceTokenizer()
    backend.train_from_iterator(text, vocab_size=TYPES, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    backend.save_model(str(folder))
    words = {
        word: number for number, word in enumerate((folder / "vocab.txt").read_text(encoding="utf-8").split())
    }
    tokenizer = transformers.BertTokenizer(vocab=words)
    return _saved(folder, "AutoModelForMaskedLM", transformers.BertConfig(), tokenizer)


def _saved(folder: Path, auto: str, config: Any, tokenizer: Any) -> Path:
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    model = getattr(transformers, auto).from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.mul_(3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@dataclass
class Case:
    """One way of scoring: seconds of each turn, and the sums it gave."""

    name: str
    run: Callable[[], tuple[float, Floats]]
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    sums: Floats = field(default_factory=lambda: np.empty(0))

    def turn(self) -> None:
        """Run once more."""
        start = time.perf_counter()
        spent, self.sums = self.run()
        self.wall.append(time.perf_counter() - start)
        self.cpu.append(spent)

    def rate(self, pairs: int) -> float:
        """Pairs per CPU second, the median of all turns."""
        return pairs / statistics.median(self.cpu)

    def line(self, pairs: int, *, beside: str = "") -> str:
        """One row of the table."""
        spread = f"{pairs / max(self.cpu):.1f}–{pairs / min(self.cpu):.1f}"
        wall = statistics.median(self.wall)
        return f"  {self.name:34}{self.rate(pairs):8.2f}  {spread:>14}{wall:9.1f}   {beside}"


HEAD = f"  {'':34}{'pairs/CPU s':>8} {'min–max':>14}{'wall s':>9}"


def in_turns(cases: Sequence[Case], repetitions: int) -> None:
    """Run all cases, one after the other, again and again: what else the machine does hits them alike."""
    for _ in range(repetitions):
        for case in cases:
            case.turn()


def our_case(name: str, way: Callable[[], Floats]) -> Case:
    """A case that runs in this process."""

    def run() -> tuple[float, Floats]:
        start = time.process_time()
        sums = way()
        return time.process_time() - start, sums

    return Case(name, run)


class Peer:
    """Another system's process: one question and one answer a line."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen(
            [python, str(DRIVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **question: Any) -> Any:
        """Ask, and wait."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("the peers' process ended; its message stands above.")
        return json.loads(answer)

    def case(self, name: str, sentences: Sequence[str], **how: Any) -> Case:
        """A case that runs over there."""

        def run() -> tuple[float, Floats]:
            answer = self.ask(sentences=list(sentences), **how)
            return float(answer["cpu_s"]), np.array(answer["sums"])

        return Case(name, run)


@contextmanager
def peers(folder: Path, kinds: Sequence[str]) -> Iterator[Peer | None]:
    """The peers' process with a model open in each kind; None where ``PEERS_PYTHON`` names none."""
    python = os.environ.get("PEERS_PYTHON", "")
    if not python:
        print(NO_PEERS)
        yield None
        return
    peer = Peer(python)
    try:
        for kind in kinds:
            peer.ask(open=kind, folder=str(folder))
        yield peer
    finally:
        peer.process.kill()
        peer.process.wait()


def load_average() -> str:
    """How busy the machine is, in a sentence."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def run(options: Any, measure: Callable[[Any, Path], list[str]]) -> None:
    """Print a benchmark's figures; end with 1 if something is wrong."""
    pin()
    if not ready(options.data):
        return
    print(f"one core, one thread, {options.repetitions} turns; {load_average()} at the start")
    with tempfile.TemporaryDirectory(prefix="obelus-bench-") as folder:
        wrong = measure(options, Path(folder))
    print(f"{load_average()} at the end")
    for problem in wrong:
        print(problem)
    raise SystemExit(bool(wrong))
