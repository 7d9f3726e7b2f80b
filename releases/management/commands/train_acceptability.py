"""``manage.py train_acceptability``: fine-tune a classifier on sentences with labels."""

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from analysis.scoring.model_uri import DEVICE
from analysis.training.cola import read_cola
from analysis.training.fine_tuning import train_classifier
from analysis.training.plan import TINY, Tuning
from config.commands import ContractCommand

TINY_DEFAULTS = {"lr": 1e-3, "epochs": 15, "patience": 5}


class Command(ContractCommand):
    """Fine-tune with restarts, keep the best by development MCC."""

    help = (
        "Fine-tune an acceptability classifier on a CoLA file several times and keep the restart with the "
        "best Matthews correlation on the development part; hf-classifier:DIR scores with it."
    )
    example = "manage.py train_acceptability in_domain_train.tsv --model bert-base-cased --out models/probe"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The data, the model, the run."""
        parser.add_argument(
            "cola", metavar="COLA_FILE", help="source, label, mark, sentence (TSV); or a table with a head"
        )
        parser.add_argument(
            "--model", required=True, metavar=f"NAME|FOLDER|{TINY}", help="tiny: small, with fresh weights"
        )
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new folder")
        parser.add_argument("--development", metavar="FILE", help="chooses; without it a tenth of the file")
        parser.add_argument("--test", metavar="FILE", help="measured once, with the model chosen")
        parser.add_argument("--restarts", type=int, metavar="N", help="default 5")
        parser.add_argument("--seed", type=int, metavar="N", help="of the first restart, default 1")
        parser.add_argument("--epochs", type=int, metavar="N", help="at most, default 4; tiny 15")
        parser.add_argument(
            "--patience", type=int, metavar="N", help="epochs without a gain, default 2; tiny 5"
        )
        parser.add_argument("--batch", type=int, metavar="N", help="sentences per step, default 32")
        parser.add_argument("--lr", type=float, metavar="RATE", help="default 0.00002; tiny 0.001")
        parser.add_argument("--device", default="auto", metavar="|".join(DEVICE.values))

    def run(self, **options: Any) -> None:
        """Train and report every restart."""
        names = ("restarts", "seed", "epochs", "patience", "batch", "lr")
        overrides = {name: options[name] for name in names if options[name] is not None}
        tuning = Tuning(**{**(TINY_DEFAULTS if options["model"] == TINY else {}), **overrides})
        train = read_cola(options["cola"])
        if options["development"] is None:
            train, development = train.split(seed=tuning.seed)
        else:
            development = read_cola(options["development"])
        test = None if options["test"] is None else read_cola(options["test"])
        document = train_classifier(
            train,
            development,
            options["model"],
            options["out"],
            tuning=tuning,
            test=test,
            device=options["device"],
            progress=_tell if self.wants_progress(options) else None,
        )
        if options["json"]:
            self.print_json(document)
        else:
            self.stdout.write(_text(document))


def _tell(restart: int, epoch: int) -> None:
    Console(stderr=True).print(f"restart {restart + 1}, epoch {epoch + 1}", end="\r")


def _text(document: dict[str, Any]) -> str:
    lines = [f"{'seed':>6}{'epoch':>7}{'MCC':>8}{'accuracy':>10}"]
    for restart in document["restarts"]:
        mark = "  chosen" if restart["seed"] == document["chosen_seed"] else ""
        mark += "  one label for all" if restart["status"] == "degenerate" else ""
        lines.append(
            f"{restart['seed']:>6}{restart['epoch']:>7}{restart['mcc']:>8.3f}{restart['accuracy']:>10.3f}{mark}"
        )
    if document["test"] is not None:
        lines.append(f"test: MCC {document['test']['mcc']:.3f} over {document['test']['n']} sentences")
        over = document["test_restarts"]
        spread = "" if over["sd"] is None else f" (SD {over['sd']:.3f})"
        lines.append(
            f"test, {over['restarts']} restarts: mean {over['mean']:.3f}{spread}, max {over['max']:.3f}, "
            f"ensemble {over['ensemble']:.3f}"
        )
    if document["n_cut"]:
        lines.append(f"{document['n_cut']} sentences are longer than the model reads and were cut")
    lines.append(document["model"])
    return "\n".join(lines)
