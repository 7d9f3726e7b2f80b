"""``manage.py train_lm``: train small language models on a corpus, one per seed."""

import argparse
from contextlib import nullcontext
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from rich.console import Console
from rich.progress import Progress

from analysis.errors import BadInput
from analysis.scoring.model_uri import DEVICE
from analysis.training import KINDS, SIZES, make_plan, read_corpus
from analysis.training.language import train_language_model
from analysis.training.plan import DTYPES, UNITS
from config.commands import ContractCommand

GIVEN = (
    "layers", "width", "heads", "context", "tokens", "casing", "punctuation", "vocabulary", "epochs",
    "patience", "batch", "lr", "dropout", "dtype",
)  # fmt: skip
CLEARLY = 0.95  # of the unigram perplexity


class Command(ContractCommand):
    """Train language models; the folder of each can be scored at once."""

    help = (
        "Train a small language model on a text with a sentence per line. A held-out part "
        "decides when to stop. With one seed the model is in DIR, with several in DIR/seed-1, DIR/seed-2 ..."
    )
    example = "manage.py train_lm corpus.txt --kind lstm --size small --tokens chars --seed 1 2 --out chars"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The corpus, the model, the run."""
        parser.add_argument("corpus", metavar="CORPUS", help="UTF-8 text, a sentence per line")
        parser.add_argument("--kind", required=True, metavar="|".join(KINDS))
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new folder")
        sizes = "|".join(dict.fromkeys(name for kind in KINDS for name in SIZES[kind]))
        parser.add_argument("--size", default="tiny", metavar=sizes, help="default tiny")
        parser.add_argument("--layers", type=int, metavar="N")
        parser.add_argument("--width", type=int, metavar="N", help="of embeddings and states")
        parser.add_argument("--heads", type=int, metavar="N", help="transformer only")
        parser.add_argument(
            "--context", type=int, metavar="N", help="transformer only: longest sentence in tokens"
        )
        parser.add_argument(
            "--tokens", metavar="|".join(UNITS), help="default space; jieba: LSTM only; bpe: transformer only"
        )
        parser.add_argument("--casing", metavar="as-is|lower")
        parser.add_argument("--punctuation", metavar="keep|split|drop")
        parser.add_argument("--vocabulary", type=int, metavar="N", help="most types, default 50,000")
        parser.add_argument("--seed", type=int, nargs="+", default=[1], metavar="N")
        parser.add_argument("--held-out", metavar="FILE", help="a text of its own instead of a twentieth")
        parser.add_argument("--epochs", type=int, metavar="N", help="at most, default 20")
        parser.add_argument("--patience", type=int, metavar="N", help="epochs without a gain, default 3")
        parser.add_argument("--batch", type=int, metavar="N", help="sentences per step, default 32")
        parser.add_argument("--lr", type=float, metavar="RATE")
        parser.add_argument("--dropout", type=float, metavar="SHARE", help="default 0.1")
        parser.add_argument("--dtype", metavar="|".join(DTYPES), help="of the sums while training")
        parser.add_argument("--device", default="auto", metavar="|".join(DEVICE.values))
        parser.add_argument("--checkpoint-every", type=int, default=500, metavar="STEPS")
        parser.add_argument("--resume", action="store_true", help="go on from the last checkpoints in DIR")

    def run(self, **options: Any) -> None:
        """Train one model per seed and report."""
        seeds: list[int] = options["seed"]
        if len(set(seeds)) < len(seeds):
            raise BadInput(f"a seed occurs twice in {' '.join(map(str, seeds))}.", remedy="Give each once.")
        if options["checkpoint_every"] < 1:
            raise BadInput("--checkpoint-every must be 1 or more.")
        overrides = {name: options[name] for name in GIVEN}
        plans = [make_plan(options["kind"], options["size"], seed=seed, **overrides) for seed in seeds]
        with self._bar(options, "reading the text"):
            corpus = read_corpus(options["corpus"], held_out=options["held_out"])
        reports = []
        for plan in plans:
            folder = options["out"] if len(plans) == 1 else options["out"] / f"seed-{plan.seed}"
            with self._bar(options, f"seed {plan.seed}, preparing tokens and model") as progress:
                reports.append(
                    train_language_model(
                        corpus,
                        plan,
                        folder,
                        resume=options["resume"],
                        device=options["device"],
                        every=options["checkpoint_every"],
                        progress=progress,
                    )
                )
        document = _document(reports)
        if options["json"]:
            self.print_json(document)
        else:
            self.stdout.write(_text(document))

    def _bar(self, options: dict[str, Any], stage: str) -> Any:
        """A bar from the first second on a terminal; elsewhere a line when the stage begins."""
        if not self.wants_progress(options):
            self.stderr.write(stage)
            return nullcontext()
        return _Bar(stage)


class _Bar:
    """A progress bar over the steps of each epoch."""

    def __init__(self, stage: str) -> None:
        self.seed = stage.partition(",")[0]
        self.bar = Progress(console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(stage, total=None)

    def __enter__(self) -> Any:
        self.bar.start()
        return self._show

    def __exit__(self, *_: Any) -> None:
        self.bar.stop()

    def _show(self, epoch: int, step: int, n_steps: int) -> None:
        self.bar.update(
            self.task, completed=step, total=n_steps, description=f"{self.seed}, epoch {epoch + 1}"
        )


def _document(reports: list[dict[str, Any]]) -> dict[str, Any]:
    perplexities = [report["perplexity"] for report in reports]
    return {
        "models": reports,
        "mean_perplexity": mean(perplexities),
        "sd_perplexity": stdev(perplexities) if len(perplexities) > 1 else None,
    }


def _text(document: dict[str, Any]) -> str:
    lines = []
    for model in document["models"]:
        lines += [
            f"{model['model']}  perplexity {model['perplexity']:.2f} after {model['epochs']} epochs",
            f"  by frequency alone {model['unigram_perplexity']:.2f}; "
            f"{model['bits_per_character']:.3f} bits per character",
        ]
        if model["perplexity"] > CLEARLY * model["unigram_perplexity"]:
            lines.append("  has learned no more than frequencies: give more text, --epochs or another --lr")
        if model["too_long"]:
            lines.append(
                f"  {model['too_long']} sentences are longer than the context "
                f"({model['plan']['context']} tokens) and were left out: "
                "give a sentence per line, or a longer --context"
            )
        if model["unknown_share"] > 0.05:
            lines.append(f"  {model['unknown_share']:.1%} of the tokens held out are unknown to the model")
    if document["sd_perplexity"] is not None:
        average, spread = document["mean_perplexity"], document["sd_perplexity"]
        lines.append(f"mean perplexity {average:.2f}, SD {spread:.2f} over seeds")
    return "\n".join(lines)
