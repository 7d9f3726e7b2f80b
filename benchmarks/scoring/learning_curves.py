r"""Learning curves in small: tiny models at several corpus sizes and seeds, scored, averaged and drawn.

Three parts, each the small form of a published experiment::

    python benchmarks/scoring/learning_curves.py blimp --text wiki.txt --pairs blimp/*.jsonl \
        --out curves/blimp
    python benchmarks/scoring/learning_curves.py climp --pairs climp/*.csv --out curves/climp
    python benchmarks/scoring/learning_curves.py fict --text ewt.conllu --pairs blimp/*.jsonl \
        --out curves/fict

Each prints the commands it runs (any of them may be typed by hand) and its tables, and writes into
``--out``, a new folder: ``models.csv``, ``scores.csv``, ``pairs.csv``, ``curves.csv`` (lines by phenomenon)
and the figures. Options: ``--sizes`` (in sentences), ``--seeds``, ``--pairs-each`` (of a paradigm),
``--filters``. The text of ``blimp`` holds a sentence per line; that of ``fict`` is CoNLL-U; ``climp`` learns
from acceptable sentences of CLiMP itself and is tested on its other pairs.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from django.core.management import call_command  # noqa: E402

from analysis.comparison.in_depth.filtered_training import filtered_training  # noqa: E402
from analysis.comparison.in_depth.learning_curves import learning_curves  # noqa: E402
from analysis.comparison.in_depth.models import roster  # noqa: E402
from analysis.comparison.pairs import PairTable, pair_table  # noqa: E402
from analysis.figures import Evidence, draw, export_figure  # noqa: E402
from experiments.materials.readers.detect import read_materials  # noqa: E402

ENGLISH = ["--casing", "lower", "--punctuation", "split"]
TINY = ["--kind", "lstm", "--size", "tiny", "--batch", "16", "--lr", "0.005"]
SHORT = ["--vocabulary", "4000", "--epochs", "8", "--patience", "1"]
HELD_OUT, TEST_SHARE = 400, 0.2


@dataclass(frozen=True)
class Model:
    """What is known of one model, in the columns of ``models.csv``; ``address`` is what scores with it."""

    model: str
    family: str
    training_tokens: int
    seed: int
    corpus: str
    address: str
    perplexity: float | None = None


def manage(*words: Any) -> dict[str, Any]:
    """Print a command, run it in this process and give its document."""
    arguments = [str(word) for word in words]
    print("manage.py", *arguments, flush=True)
    paper = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        call_command(*arguments, "--json", stdout=paper)
    document: dict[str, Any] = json.loads(paper.getvalue())
    return document


def lstms(
    name: str, text: Path, out: Path, seeds: Sequence[int], *more: Any, corpus: str = ""
) -> list[Model]:
    """Train one recurrent model per seed."""
    folder = out / f"{name}-{text.stem}"
    seeded = ["--seed", *seeds] if len(seeds) > 1 else ["--seed", seeds[0]]
    report = manage("train_lm", text, *TINY, *SHORT, *more, *seeded, "--out", folder)
    return [
        Model(
            f"{name}-{text.stem}-{model['seed']}", name, model["train_tokens"], model["seed"], corpus,
            model["model"], model["perplexity"],
        )
        for model in report["models"]
    ]  # fmt: skip


def ngram(text: Path, out: Path, *, corpus: str = "") -> Model:
    """Train a trigram model; it has no seed."""
    path = out / f"trigram-{text.stem}.arpa"
    report = manage("train_ngram", text, "--order", 3, *ENGLISH, "--out", path)
    return Model(f"trigram-{text.stem}", "trigram", report["tokens"], 0, corpus, f"arpa:{path}")


def sizes_of(lines: Sequence[str], sizes: Sequence[int], out: Path) -> tuple[list[Path], Path]:
    """Nested corpora of so many sentences, and one text held out of all of them."""
    order = np.random.default_rng(1).permutation(len(lines))
    shuffled = [lines[place] for place in order]
    if len(shuffled) < HELD_OUT + max(sizes):
        raise SystemExit(f"{len(shuffled)} sentences are too few for {max(sizes)} and {HELD_OUT} held out.")
    held_out = write(out / "held-out.txt", shuffled[:HELD_OUT])
    return [write(out / f"{size}.txt", shuffled[HELD_OUT : HELD_OUT + size]) for size in sizes], held_out


def write(path: Path, lines: Sequence[str]) -> Path:
    """Write a text with a sentence per line."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def blimp(options: argparse.Namespace) -> list[Model]:
    """BLiMP section 6.3: the same model on more and more text."""
    lines = list(dict.fromkeys(options.text.read_text(encoding="utf-8").splitlines()))
    texts, held_out = sizes_of(lines, options.sizes or [250, 500, 1000, 2000], options.out)
    models = []
    for text in texts:
        models.append(ngram(text, options.out))
        models += lstms("lstm", text, options.out, options.seeds, "--held-out", held_out, *ENGLISH)
    return models


def climp(options: argparse.Namespace) -> list[Model]:
    """CLiMP's words against characters, on acceptable sentences whose pairs are not tested."""
    pairs, tested = options.pairs_table, options.tested
    barred = set(pairs.loc[tested, ["sentence_good", "sentence_bad"]].to_numpy().ravel())
    good = pairs.loc[~tested, "sentence_good"]
    texts, held_out = sizes_of(
        list(dict.fromkeys(good[~good.isin(barred)])), options.sizes or [1600, 6400], options.out
    )
    models = []
    for text in texts:
        for name, unit in (("words", "jieba"), ("characters", "chars")):
            more = ["--held-out", held_out, "--tokens", unit]
            models += lstms(name, text, options.out, options.seeds, *more)
    return models


def fict(options: argparse.Namespace) -> list[Model]:
    """FiCT: the full corpus and one without a construction, of one size."""
    folder = options.out / "filtered"
    words = ["--filter", *options.filters, "--downsample", "sentences", "--seed", 1, "--out", folder]
    print(pd.DataFrame(manage("filter_corpus", options.text, *words)["filters"])[
        ["filter", "sentences_removed", "sentences_removed_percent", "tokens_removed"]
    ].to_string(index=False))  # fmt: skip
    models = []
    for name in ("full", *options.filters):
        text, corpus = folder / f"{name}.txt", "" if name == "full" else name
        models.append(ngram(text, options.out, corpus=corpus))
        if name in ("full", options.filters[0]):
            models += lstms("lstm", text, options.out, options.seeds, *ENGLISH, corpus=corpus)
    return models


def read_pairs(options: argparse.Namespace) -> pd.DataFrame:
    """The pairs as ids with their sentences; ``tested`` marks those that are scored."""
    read = read_materials(options.pairs)
    words = read.sentences.set_index("sentence_id")["text"]
    pairs = read.pairs.assign(
        sentence_good=read.pairs["good_id"].map(words), sentence_bad=read.pairs["bad_id"].map(words)
    ).reset_index(drop=True)
    place = pairs.groupby("paradigm").cumcount()
    last = pairs.groupby("paradigm")["pair_id"].transform("size") * (1 - TEST_SHARE)
    options.tested = place >= last if options.part == "climp" else place >= 0
    options.tested &= (pairs.groupby(["paradigm", options.tested]).cumcount()) < options.pairs_each
    return pairs


def score(models: Sequence[Model], pairs: pd.DataFrame, out: Path) -> PairTable:
    """Score the members of all pairs with every model."""
    sides = [
        pairs[[f"{side}_id", f"sentence_{side}"]].set_axis(["sentence_id", "sentence"], axis=1)
        for side in ("good", "bad")
    ]
    sentences = pd.concat(sides).drop_duplicates("sentence_id")
    sentences.to_csv(out / "sentences.csv", index=False)
    scores = sentences[["sentence_id"]]
    for model in models:
        path = out / f"{model.model}.csv"
        manage(
            "score", model.address, "--sentences", out / "sentences.csv", "--name", model.model, "--to", path
        )
        table_of_model = pd.read_csv(path, dtype={"sentence_id": str}).rename(
            columns={f"{model.model}:lp": model.model}
        )
        scores = scores.merge(table_of_model[["sentence_id", model.model]], on="sentence_id", how="left")
    scores.to_csv(out / "scores.csv", index=False)
    pairs[["pair_id", "good_id", "bad_id", "paradigm", "phenomenon"]].to_csv(out / "pairs.csv", index=False)
    pd.DataFrame([asdict(model) for model in models])[
        ["model", "family", "training_tokens", "seed", "corpus"]
    ].to_csv(out / "models.csv", index=False)
    return pair_table(None, pairs, scores)


def averaged(models: Sequence[Model], table: PairTable) -> pd.DataFrame:
    """Accuracy (of all pairs, and of those with unequal scores) and perplexity, averaged over seeds."""
    rows = pd.DataFrame([asdict(model) for model in models])
    rows["accuracy"] = [100 * float(table.prefers_good[name].mean()) for name in rows["model"]]
    rows["equal"] = [100 * float((table.model_delta[name] == 0).mean()) for name in rows["model"]]
    rows["unequal"] = 100 * rows["accuracy"] / (100 - rows["equal"])
    by = rows.groupby(["family", "corpus", rows["training_tokens"].rename("tokens")], sort=False)
    averages = by.agg(
        seeds=("seed", "size"), accuracy=("accuracy", "mean"), sd=("accuracy", "std"),
        equal=("equal", "mean"), accuracy_of_unequal=("unequal", "mean"), perplexity=("perplexity", "mean"),
    ).reset_index()  # fmt: skip
    averages.insert(3, "log2", np.log2(averages["tokens"]))
    return averages


def as_markdown(frame: pd.DataFrame) -> str:
    """A table in Markdown, numbers to two digits."""
    cells = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in [list(frame.columns), ["---"] * len(frame.columns), *cells]
    )


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def show(models: Sequence[Model], table: PairTable, out: Path) -> Iterator[str]:
    """The tables of a part; figures go into the folder."""
    yield as_markdown(averaged(models, table))
    model_table = pd.read_csv(out / "models.csv", keep_default_na=False)
    rosters = roster(model_table["model"].tolist(), model_table.replace({"corpus": {"": None}}))
    curves = learning_curves(table, rosters, pd.Series(np.nan, index=table.pairs.index))
    lines = pd.DataFrame([
        {name: curve[name] for name in ("family", "group", "slope_per_doubling", "ci_low", "ci_high", "r")}
        for curve in curves
    ])  # fmt: skip
    if len(lines):
        lines.to_csv(out / "curves.csv", index=False)
        yield as_markdown(lines[lines["group"] == "all"])
    for family in dict.fromkeys(curve["family"] for curve in curves):
        points = pd.DataFrame([
            {**point, "phenomenon": curve["group"]}
            for curve in curves if curve["family"] == family for point in curve["points"]
        ])  # fmt: skip
        figure = draw("learning-curves", Evidence(learning=points, basis=f"Models: {family}."))
        for kind in ("svg", "png"):
            (out / f"learning-curves-{family}.{kind}").write_bytes(_bytes(export_figure(figure, kind)))
    deltas = pd.DataFrame(filtered_training(table, rosters)["deltas"])
    if len(deltas):
        targeted = deltas[deltas["targeted"] | (deltas["group"] == "all")]
        yield as_markdown(targeted[[
            "family", "filter", "group", "accuracy_full", "accuracy_filtered", "accuracy_delta",
            "ci_low", "ci_high", "probability_delta_full", "probability_delta_filtered",
        ]])  # fmt: skip


def _bytes(figure: bytes | str) -> bytes:
    return figure if isinstance(figure, bytes) else figure.encode()


def read_options() -> argparse.Namespace:
    """The part, its text and pairs, where to write."""
    parser = argparse.ArgumentParser(description="Learning curves in small.")
    parser.add_argument("part", choices=("blimp", "climp", "fict"))
    parser.add_argument("--text", type=Path)
    parser.add_argument("--pairs", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--pairs-each", type=int, default=200)
    parser.add_argument(
        "--filters", nargs="+", default=["agr-pp-mod", "quantifier-superlative", "npi-sim-ques"]
    )
    options = parser.parse_args()
    if options.part != "climp" and options.text is None:
        parser.error(f"{options.part} needs --text.")
    return options


def main() -> None:
    """Train, score, tell."""
    options = read_options()
    django.setup()
    options.out.mkdir(parents=True)
    began, wall = time.process_time(), time.perf_counter()
    options.pairs_table = read_pairs(options)
    models = {"blimp": blimp, "climp": climp, "fict": fict}[options.part](options)
    pairs = options.pairs_table[options.tested].reset_index(drop=True)
    for text in show(models, score(models, pairs, options.out), options.out):
        print(f"\n{text}")
    spent, passed = time.process_time() - began, time.perf_counter() - wall
    print(f"\n{len(pairs)} pairs; {spent:.0f} CPU seconds, {passed:.0f} s on the clock")


if __name__ == "__main__":
    main()
