"""Train an n-gram model on a text and write it as an ARPA file."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from ...errors import BadInput, NotEnoughData
from ...ngrams import write_arpa
from ...ngrams.columns import Workspace
from ...ngrams.counts import MAX_ORDER, Counts, count_ngrams
from ...ngrams.query import BackoffModel
from ...ngrams.smoothing import FALLBACK, discounts, pruning, smooth
from ...ngrams.text import CorpusSentences
from ...scoring.words.tokens import CASINGS, PUNCTUATION, UNITS, Tokenization
from ..output import CommandOutput

FEW_SENTENCES = 1_000


class NgramTraining(CommandOutput):
    """Train an n-gram model; the file appears complete or not at all."""

    help = (
        "Train an n-gram model by interpolated modified Kneser-Ney smoothing, as lmplz does, on a text with "
        "a sentence per line. The ARPA file records how text became tokens; 'manage.py score' follows it."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The corpus, its tokens, the model and the file."""
        parser.add_argument("corpus", metavar="CORPUS", help="UTF-8 text, a sentence per line, plain or .gz")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=".arpa or .arpa.gz")
        parser.add_argument("--order", type=int, default=5, metavar="N", help=f"1 to {MAX_ORDER}, default 5")
        parser.add_argument("--tokens", default=UNITS[0], metavar="|".join(UNITS), help="default space")
        parser.add_argument("--casing", default=CASINGS[0], metavar="|".join(CASINGS), help="default as-is")
        parser.add_argument(
            "--punctuation", default=PUNCTUATION[0], metavar="|".join(PUNCTUATION), help="default keep"
        )
        parser.add_argument(
            "--prune",
            type=int,
            nargs="+",
            default=[0],
            metavar="N",
            help="by order, leave out what occurs so often or less; '0 0 1': singletons from order 3 on",
        )
        parser.add_argument(
            "--workspace", type=Path, metavar="DIR", help="folder of temporary counts; default: that of FILE"
        )

    def run(self, **options: Any) -> None:
        """Validate, count, smooth, write, print."""
        out, order = options["out"], options["order"]
        tokenization = Tokenization(options["tokens"], options["casing"], options["punctuation"])
        thresholds = pruning(options["prune"], order=order)
        check_out(out)
        space = Workspace(options["workspace"] or out.parent)
        text = CorpusSentences(options["corpus"], tokenization.tokens)
        with self.bar("reading", options) as bar:
            try:
                counts = count_ngrams(with_progress(text, bar), order=order, workspace=space)
            except NotEnoughData as error:
                remedy = "Give a sentence per line."
                raise NotEnoughData("the corpus is empty.", file=str(text.path), remedy=remedy) from error
        model = smooth(counts, prune=thresholds, workspace=space)
        model = replace(model, tokenization=tokenization.record())
        with self.bar("writing", options, total=sum(len(table.keys) for table in model.orders)) as bar:
            write_arpa(model, out, progress=bar)
        document = summary(counts, model, text, thresholds) | {"to": str(out), "bytes": out.stat().st_size}
        if options["json"]:
            self.print_json(document)
        else:
            self.print_summary(document)

    @contextmanager
    def bar(self, name: str, options: dict[str, Any], *, total: int | None = None) -> Iterator[Any]:
        """A progress bar on stderr; yields the function that advances it."""
        hidden = not self.wants_progress(options)
        with Progress(console=Console(stderr=True), transient=True, disable=hidden) as bar:
            task = bar.add_task(name, total=total)
            yield lambda n: bar.advance(task, n)

    def print_summary(self, document: dict[str, Any]) -> None:
        """Print what was read and written, with warnings."""
        self.stdout.write(
            f"wrote {document['to']}: order {document['order']}, {document['sentences']:,} sentences, "
            f"{document['tokens']:,} tokens, {document['types']:,} types"
        )
        for row in document["orders"]:
            self.stdout.write(f"  {row['order']}-grams: {row['ngrams']:,} of {row['counted']:,}")
        if document["blank_lines"]:
            self.stderr.write(f"{document['blank_lines']:,} lines without a token were left out")
        orders = [str(row["order"]) for row in document["orders"] if row["fallback_discounts"]]
        if orders:
            self.stderr.write(
                f"too little text to estimate the discounts of order {', '.join(orders)}: "
                f"{', '.join(map(str, FALLBACK))} taken, as lmplz --discount_fallback does"
            )
        if document["sentences"] < FEW_SENTENCES:
            self.stderr.write(f"{document['sentences']:,} sentences are few for a model")


def check_out(out: Path) -> None:
    """Refuse a file that cannot be written or has another suffix, before hours of counting."""
    if not out.name.endswith((".arpa", ".arpa.gz")):
        raise BadInput("n-gram models end in .arpa or .arpa.gz.", file=str(out))
    if not out.parent.is_dir():
        raise BadInput("there is no such folder.", file=str(out.parent), remedy="Make it first.")


def with_progress(sentences: CorpusSentences, advance: Any) -> Iterator[list[str]]:
    """Yield the sentences and advance the bar at every ten thousandth."""
    for number, sentence in enumerate(sentences, start=1):
        yield sentence
        if number % 10_000 == 0:
            advance(10_000)


def summary(
    counts: Counts, model: BackoffModel, text: CorpusSentences, thresholds: list[int]
) -> dict[str, Any]:
    """Counts of the text and the model."""
    orders = []
    for n, (table, pruned) in enumerate(zip(counts.orders, model.orders, strict=True), start=1):
        estimates = discounts(table.count)
        orders.append(
            {
                "order": n,
                "counted": len(table.keys),
                "ngrams": len(pruned.keys),
                "pruned_up_to": thresholds[n - 1],
                "discounts": list(estimates),
                "fallback_discounts": estimates == FALLBACK,
            }
        )
    return {
        "corpus": str(text.path),
        "sentences": counts.n_sentences,
        "blank_lines": text.n_blank,
        "tokens": counts.n_tokens,
        "types": len(counts.words) - 3,  # without the beginning, the end and the unknown word
        "order": model.order,
        "orders": orders,
        "tokenization": model.tokenization,
    }
