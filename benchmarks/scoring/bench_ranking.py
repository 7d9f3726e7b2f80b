"""Do models rank our paradigms as they rank BLiMP's? A trigram, an LSTM and a transformer, trained here.

Run ``python benchmarks/scoring/bench_ranking.py --text wiki.txt --pairs blimp/*.jsonl --out FOLDER``;
without ``--text`` and ``--pairs`` the files of ``shared/data`` beside the project. The text is WikiText's (a
paragraph per line, tokens separated by spaces), CoNLL-U, or CoLA's table, of which the acceptable sentences
are taken. ``--out`` keeps the trained models: a second run scores only. Prints the accuracy of each model on
each of the given paradigms and on ours of the same name, Pearson's and Spearman's correlation with their
intervals, and the same for all 67 with the published accuracies of BLiMP.

Intervals: Fisher's z for Pearson's r; 95 % of 5,000 bootstrap samples of paradigms for both.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
import pandas as pd  # noqa: E402

from analysis.ngrams import token_logprobs, train_model  # noqa: E402
from analysis.scoring.registry import scorer  # noqa: E402
from analysis.scoring.words.tokens import Tokenization  # noqa: E402
from analysis.training import Corpus, Plan, make_plan, read_cola, read_corpus  # noqa: E402
from experiments.generation.paradigms import find_paradigm, sample_pairs, shipped_paradigms  # noqa: E402

#: Published accuracies of the repository of BLiMP (5-gram, LSTM, Transformer-XL, GPT-2), and of people.
PUBLISHED = ROOT / "tests" / "reference" / "blimp_accuracies.csv"
SHARED = ROOT.parent / "shared" / "data"
TOKENS = Tokenization(casing="lower", punctuation="split")
PLANS: dict[str, dict[str, Any]] = {
    "lstm": {"layers": 1, "width": 128, "lr": 0.003},
    "transformer": {"layers": 2, "width": 128, "heads": 4, "context": 96, "lr": 0.001},
}
Pairs = dict[str, list[tuple[str, str]]]
Floats = npt.NDArray[np.float64]


def settings() -> argparse.Namespace:
    """What to train on and to compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", type=Path, nargs="+")
    parser.add_argument("--pairs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, help="folder of the models; a temporary one by default")
    parser.add_argument("--n", type=int, default=500, help="pairs of each paradigm")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.text is None:
        names = ("wikitext-2/valid.txt", "wikitext-2/test.txt", "cola/*.csv", "ud-english-ewt/*.conllu")
        options.text = [path for name in names for path in sorted(SHARED.glob(name))]
    if options.pairs is None:
        options.pairs = sorted((SHARED / "blimp").glob("*.jsonl"))
    if not options.text or not options.pairs:
        print("No text or pairs beside the project: give --text and --pairs. Nothing is compared.")
        raise SystemExit(0)
    if not find_spec("torch"):
        print("torch is not installed: make install-models. Nothing is compared.")
        raise SystemExit(0)
    if options.out is None:
        options.out = Path(tempfile.mkdtemp(prefix="obelus-bench-"))
    return options


def sentences(path: Path) -> Iterator[str]:
    """Sentences of a text: tokens in small letters, separated by spaces."""
    if path.suffix == ".conllu":
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# text = "):
                yield " ".join(TOKENS.tokens(line.removeprefix("# text = ")))
        return
    if path.suffix == ".csv":
        table = read_cola(path)
        for text, label in zip(table.sentences, table.labels, strict=True):
            if label == 1:
                yield " ".join(TOKENS.tokens(text))
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith(" ="):
            # Tokens of WikiText; its unknown words become one rare word: "<unk>" is the models' mark.
            text = (
                line.strip()
                .lower()
                .replace("<unk>", "unk")
                .replace(" @-@ ", "-")
                .replace(" @,@ ", ",")
                .replace(" @.@ ", ".")
            )
            parts = text.replace(" ? ", " ?\n").replace(" ! ", " !\n").replace(" . ", " .\n").split("\n")
            yield from (part.strip() for part in parts if len(part.split()) >= 3)


def corpus_file(options: argparse.Namespace) -> Path:
    """Write the text for training, if it is not there."""
    path: Path = options.out / "corpus.txt"
    if not path.exists():
        lines = [line for text in options.text for line in sentences(text) if 3 <= len(line.split()) <= 90]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def trained(kind: str, corpus: Corpus, options: argparse.Namespace) -> str:
    """Train a neural model, if it is not there; return its address."""
    from analysis.training.language import train_language_model

    folder = options.out / kind
    if not (folder / "training.json").exists():
        start = time.process_time()
        plan: Plan = make_plan(
            kind, "tiny", **PLANS[kind], seed=options.seed, epochs=options.epochs, patience=2,
            vocabulary=options.vocabulary, batch=32,
        )  # fmt: skip
        report = train_language_model(corpus, plan, folder, device="cpu")
        print(
            f"{kind}: perplexity {report['perplexity']:.0f} (unigram {report['unigram_perplexity']:.0f}), "
            f"{report['parameters']:,} parameters, {report['epochs']} epochs, "
            f"{time.process_time() - start:.0f} s of CPU",
            flush=True,
        )
    return f"{'lstm' if kind == 'lstm' else 'hf-causal'}:{folder}"


def pair_sets(options: argparse.Namespace) -> tuple[Pairs, Pairs]:
    """BLiMP's pairs that are given, and ours of all paradigms."""
    given: Pairs = {}
    for path in options.pairs:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        given[path.stem] = [(row["sentence_good"], row["sentence_bad"]) for row in rows][: options.n]
    ours = {
        uid: [
            (row["sentence_good"], row["sentence_bad"])
            for row in sample_pairs(find_paradigm(uid), options.n, seed=0)
        ]
        for uid in shipped_paradigms()
    }
    return given, ours


def accuracies(scores: Floats, pairs: Pairs) -> dict[str, float]:
    """Share of pairs whose acceptable member is more probable, ties one half; scores alternate."""
    found, place = {}, 0
    for uid, rows in pairs.items():
        differences = np.diff(-scores[place : place + 2 * len(rows)].reshape(-1, 2), axis=1).round(6)
        found[uid] = float(((differences > 0) + 0.5 * (differences == 0)).mean())
        place += 2 * len(rows)
    return found


def measured(options: argparse.Namespace) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """Accuracies of every model on BLiMP's pairs and on ours."""
    given, ours = pair_sets(options)
    texts = [
        " ".join(TOKENS.tokens(side))
        for pairs in (given, ours)
        for rows in pairs.values()
        for pair in rows
        for side in pair
    ]
    path = corpus_file(options)
    corpus = read_corpus(path)
    n_tokens = sum(len(line.split()) for line in corpus.train)
    print(
        f"{len(corpus.train):,} sentences, {n_tokens:,} tokens; {options.n} pairs of each paradigm",
        flush=True,
    )
    n_given = 2 * sum(map(len, given.values()))
    results = {}
    for name in ("trigram", "5-gram", "lstm", "transformer"):
        if name.endswith("gram"):
            model = train_model([line.split() for line in corpus.train], order=3 if name == "trigram" else 5)
            table = token_logprobs(model, [text.split() for text in texts])
            scores = np.bincount(table.sentence, weights=table.logprob, minlength=len(texts))
        else:
            scores = scorer(trained(name, corpus, options)).score(texts).logprob
        results[name] = accuracies(scores[:n_given], given), accuracies(scores[n_given:], ours)
    return results


def correlation(x: Sequence[float], y: Sequence[float]) -> str:
    """Word Pearson's r and Spearman's rho with their intervals."""
    from scipy.stats import pearsonr, spearmanr

    a, b = np.array(x), np.array(y)
    fisher = pearsonr(a, b).confidence_interval()
    rng = np.random.default_rng(1)
    samples = [rng.integers(len(a), size=len(a)) for _ in range(5000)]
    interval = [
        np.nanpercentile([function(a[s], b[s])[0] for s in samples], [2.5, 97.5])
        for function in (lambda p, q: (np.corrcoef(p, q)[0, 1],), spearmanr)
    ]
    return (
        f"r = {pearsonr(a, b)[0]:.2f} [{fisher.low:.2f}, {fisher.high:.2f}] "
        f"(bootstrap [{interval[0][0]:.2f}, {interval[0][1]:.2f}]), "
        f"rho = {spearmanr(a, b)[0]:.2f} [{interval[1][0]:.2f}, {interval[1][1]:.2f}], n = {len(a)}"
    )


def main() -> None:
    """Train, score and print."""
    options = settings()
    options.out.mkdir(parents=True, exist_ok=True)
    results = measured(options)
    given = list(results["trigram"][0])
    print("| paradigm | " + " | ".join(f"{name} BLiMP | {name} ours" for name in results) + " |")
    print("|" + "---|" * (1 + 2 * len(results)))
    for uid in given:
        cells = [f"{part[uid]:.2f}" for pair in results.values() for part in pair]
        print(f"| `{uid}` | " + " | ".join(cells) + " |")
    for name, (theirs, ours) in results.items():
        x, y = [theirs[uid] for uid in given], [ours[uid] for uid in given]
        print(f"{name}: mean {np.mean(x):.3f} on BLiMP's, {np.mean(y):.3f} on ours; {correlation(x, y)}")
    table = pd.read_csv(PUBLISHED, index_col="paradigm")
    for name, column in (("5-gram", "ngram_5"), ("lstm", "lstm"), ("transformer", "transformer_xl")):
        ours = results[name][1]
        published = table.loc[list(ours), column].tolist()
        print(
            f"all: {name} here on ours, published {column} on BLiMP: "
            f"{correlation(list(ours.values()), published)}"
        )
    (options.out / "accuracies.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
