"""Options of the command ``score``, without the libraries that score."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from ...choices import SCORE_SIGNS
from ..output import CommandOutput


class ScoreOptions(CommandOutput):
    """The model, the sentences, the measures and the files."""

    help = (
        "Score every sentence with a model: arpa:PATH (an n-gram model), lstm:FOLDER, hf-causal:, "
        "hf-masked:, hf-mntp:, hf-seq2seq:, hf-diffusion: or hf-classifier: with a name of the hub or a "
        "folder, openai:URL#MODEL, or csv:PATH (scores computed elsewhere), lm-eval:PATH, minicons:PATH and "
        "babylm:PATH (their output). Writes sentence_id and one column per "
        "method, and beside it a .spec.json that says how and a .counts.parquet that gives other measures "
        "without scoring: csv:scores.counts.parquet."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        """The model, the sentences, the measures and the file."""
        parser.add_argument(
            "model", metavar="MODEL", help="kind:target?option=value, such as arpa:trigram.arpa"
        )
        source = parser.add_mutually_exclusive_group(required=True)
        self.add_sentence_sources(source)
        source.add_argument("--sentences", metavar="FILE", help="a file with sentence_id and sentence")
        parser.add_argument(
            "--method",
            nargs="+",
            default=["lp"],
            metavar="METHOD",
            help="lp, meanlp, penlp, sllnlp, charlp, bytelp, normlp, slor; one_prefix and two_prefix with "
            "models that give tokens; yes_no, rating and forced_choice with instruction-tuned models",
        )
        parser.add_argument(
            "--pairs",
            metavar="FILE",
            help="for forced_choice, and with BLiMP's fields for the prefix methods (pairs.jsonl)",
        )
        parser.add_argument(
            "--sign",
            default="",
            choices=SCORE_SIGNS,
            help="with csv:PATH, which scores mean a better sentence; needed where the column is named as "
            "surprisal, perplexity or loss; lower ones are negated",
        )
        parser.add_argument(
            "--prompt",
            default="",
            metavar="TEMPLATE",
            help="what stands before each sentence and is not scored: text with {context}, the column "
            "context of the sentences, that ends in {sentence}; \\n is a new line. Sentences with a context "
            "are scored after it and a space by default, unless the model URI has context=ignore",
        )
        parser.add_argument(
            "--tokens",
            type=Path,
            metavar="FILE",
            help="also write the surprisal of every token and word, with its characters, in nats and bits",
        )
        parser.add_argument(
            "--entropy",
            action="store_true",
            help="with --tokens: the entropy of the prediction at each token's place too (hf-causal:)",
        )
        parser.add_argument(
            "--regions",
            metavar="FILE",
            help="with --tokens: regions to tabulate beside the sentences' critical_region; rows of "
            "sentence_id, region and text (or start and end)",
        )
        parser.add_argument(
            "--revisions",
            nargs="+",
            default=[],
            metavar="REVISION",
            help="score with each of these revisions of the hub, or checkpoints in the folder: one file for "
            "each (scores.step1000.csv beside --to scores.csv); also MODEL@step1000,step2000",
        )
        parser.add_argument(
            "--predictions",
            type=Path,
            metavar="FILE",
            help="with --pairs: also write the sentence that the first method prefers in each pair as "
            "predictions.json of the BabyLM evaluation pipeline",
        )
        parser.add_argument("--name", default="", help="what the model is called in the file")
        parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="CSV, JSONL or Parquet")

    def add_sentence_sources(self, source: Any) -> None:
        """Add options that name the sentences otherwise than by a file."""
