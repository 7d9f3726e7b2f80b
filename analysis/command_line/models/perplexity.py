"""Perplexity of a model on a text, and the temperature that fits it."""

from argparse import ArgumentParser
from typing import Any

from ...errors import BadInput
from ...ngrams.text import read_text
from ...scoring import scorer
from ...scoring.perplexity import UNITS, calibrate_temperature, text_perplexity
from ..output import CommandOutput


class PerplexityOfText(CommandOutput):
    """Compute the perplexity of a model on a text."""

    help = (
        "Compute how well a model predicts a text: perplexity per token and word, bits per word, character "
        "and byte. Models with different tokens are compared by the last three."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        """The model, the text, and how it is read."""
        parser.add_argument("model", metavar="MODEL", help="kind:target?option=value")
        parser.add_argument("text", metavar="TEXT", help="UTF-8 text, plain or .gz")
        parser.add_argument(
            "--by",
            default="",
            choices=UNITS,
            help="document: the whole text in overlapping windows (hf-causal:, its default); lines: each "
            "line by itself (default of other models)",
        )
        parser.add_argument(
            "--stride",
            type=int,
            default=0,
            metavar="N",
            help="tokens by which the windows of a document advance; default: half a window",
        )
        parser.add_argument(
            "--calibrate",
            action="store_true",
            help="also fit the temperature by which the model predicts the text best, and test it on every "
            "second window or line (hf-causal:)",
        )

    def run(self, **options: Any) -> None:
        """Read, compute, print."""
        if options["stride"] < 0:
            raise BadInput("a stride is a number of tokens.", column="--stride")
        text, model = read_text(options["text"]), scorer(options["model"])
        report = text_perplexity(model, text, by=options["by"], stride=options["stride"])
        report["warnings"] = list(getattr(model, "warnings", []))
        if options["calibrate"]:
            report["calibration"] = calibrate_temperature(
                model, text, by=options["by"], stride=options["stride"]
            )
        if options["json"]:
            self.print_json(report)
            return
        self.print_report(report)

    def print_report(self, report: dict[str, Any]) -> None:
        """Print the figures, how the text was read, and the temperature."""
        pseudo = "pseudo-" if report["kind"] != "log probability" else ""
        self.stdout.write(
            f"{pseudo}perplexity {_number(report['perplexity_per_token'])} per token, "
            f"{_number(report['perplexity_per_word'])} per word"
        )
        bits = [f"{_number(report[f'bits_per_{name}'])} per {name}" for name in BITS]
        self.stdout.write(f"bits: {', '.join(bits)}")
        self.stdout.write(
            f"{report['tokens']:,} tokens, {report['words']:,} words, {report['characters']:,} characters, "
            f"{report['bytes']:,} bytes"
        )
        window = f"one window of {report['window']} tokens" if report["window"] else "each line by itself"
        if report["stride"]:
            window = f"windows of {report['window']} tokens, {report['stride']} new in each (stride)"
        self.stdout.write(f"read by {report['by']}: {window}")
        if n := report["unscored_tokens"]:
            self.stderr.write(f"{n} tokens without a probability: there is no beginning mark")
        if n := report["unscored_lines"]:
            self.stderr.write(f"{n} lines without a score are in none of the numbers")
        if "calibration" in report:
            fitted = report["calibration"]
            tested = fitted["held_out"]
            limit = " (the limit of those tried)" if fitted["status"] == "at_limit" else ""
            self.stdout.write(
                f"temperature {fitted['temperature']:.4f}{limit}; of every second part, fitted to the others "
                f"({tested['temperature']:.4f}): {tested['bits_per_token']:.4f} bits per token, "
                f"{tested['bits_per_token_before']:.4f} before"
            )
        for warning in report["warnings"]:
            self.stderr.write(warning)


BITS = ("token", "word", "character", "byte")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}" if value >= 100 else f"{value:.4g}"
