"""Compare models with participants, from files."""

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from ..output import CommandOutput

if TYPE_CHECKING:
    import pandas as pd


class FileComparison(CommandOutput):
    """Compare models with participants."""

    help = (
        "Compare models with participants on minimal pairs: BLiMP criterion, ADC, correlations, each with "
        "chance, the constant baseline and the human ceiling. "
    )

    def add_options(self, parser: ArgumentParser) -> None:
        """The files and the conventions."""
        parser.add_argument("--human", metavar="FILE", help="sentence_id, score[, n, sd]; without it no ADC")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "--pairs", metavar="FILE", help="pair_id, good_id, bad_id[, paradigm, phenomenon]"
        )
        self.add_pair_sources(source)
        parser.add_argument(
            "--scores", required=True, nargs="+", metavar="FILE", help="sentence_id and one column per model"
        )
        parser.add_argument(
            "--sign",
            nargs="+",
            action="extend",
            default=[],
            metavar="[COLUMN=]lower|higher",
            help="which scores mean a better sentence, where a column is named as surprisal, perplexity or "
            "loss; lower ones are negated",
        )
        parser.add_argument(
            "--judgments", metavar="FILE", help="ratings or choices by participant, for the human ceiling"
        )
        parser.add_argument(
            "--already-standardized", action="store_true", help="use the models' scores as they are"
        )
        parser.add_argument(
            "--signs", default="strict", metavar="strict|published", help="how zero differences are treated"
        )
        parser.add_argument(
            "--delta", nargs="+", type=float, default=[0.5, 1, 5], metavar="DELTA", help="default: 0.5 1 5"
        )
        parser.add_argument(
            "--constant",
            nargs="+",
            type=float,
            default=[],
            metavar="VALUE",
            help="constants beside the median",
        )
        parser.add_argument(
            "--in-depth",
            action="store_true",
            help="also correlations, curves, tests, linking functions, shallow predictors, prefix methods, "
            "learning curves, filtered training, decisions; the key depth of the document",
        )
        parser.add_argument(
            "--by-paradigm", action="store_true", help="also the share of pairs right in each paradigm"
        )
        parser.add_argument(
            "--models",
            metavar="FILE",
            help="what is known of the models: model[, name, method, family, training_tokens, seed, corpus]",
        )
        parser.add_argument("--seed", type=int, default=0, help="of permutations, bootstrap and halvings")

    def add_pair_sources(self, source: Any) -> None:
        """Add options that name the pairs otherwise than by a file."""

    def pairs(self, options: dict[str, Any]) -> "pd.DataFrame":
        """The pairs that the options name."""
        from ...comparison.files import read_pairs

        return read_pairs(options["pairs"])

    def media_columns(self, options: dict[str, Any]) -> list[str]:
        """Return columns beside the pairs that name files of sound or picture."""
        return []

    def run(self, **options: Any) -> None:
        """Read the files, compare, print."""
        from ...comparison.files import read_counts, read_human, read_judgments, read_scores
        from ...comparison.in_depth.models import read_roster
        from ...comparison.in_depth.report import depth_document
        from ...comparison.pairs import pair_table, refuse_inverted
        from ...comparison.report import comparison_document
        from ...comparison.text_tables import (
            comparison_text,
            context_text,
            depth_text,
            inverted_text,
            media_text,
            paradigms_text,
        )
        from ...scoring.conventions import recorded_specs, recorded_text
        from ...scoring.orientation import parse_signs
        from ...scoring.words.contexts import CONTEXT_SLOT

        human = read_human(options["human"]) if options["human"] else None
        pairs = self.pairs(options)
        signs = parse_signs(options["sign"])
        scores = read_scores(options["scores"], signs=signs)
        models = read_roster(options["models"]) if options["models"] else None
        conventions = {
            "signs": options["signs"],
            "deltas": options["delta"],
            "judgments": read_judgments(options["judgments"]) if options["judgments"] else None,
            "seed": options["seed"],
        }
        table = pair_table(human, pairs, scores, already_standardized=options["already_standardized"])
        refuse_inverted(table, scores.attrs["signs"])
        document = comparison_document(table, constants=options["constant"], **conventions)
        document["media"] = list(dict.fromkeys([*document["media"], *self.media_columns(options)]))
        document["scoring"] = recorded_specs(options["scores"], columns=list(scores.columns))
        if options["in_depth"]:
            counts = read_counts(options["scores"], document["scoring"])
            document["depth"] = depth_document(table, models=models, counts=counts, **conventions)
        document["negated"] = scores.attrs["negated"]
        if options["json"]:
            self.print_json(document)
        else:
            self.stdout.write(comparison_text(document))
            self.stdout.write(recorded_text(document["scoring"]))
            if names := [
                row["model"] for row in document["scoring"] if CONTEXT_SLOT in row["conventions"]["context"]
            ]:
                self.stdout.write(context_text(names, [], shown="unknown"))
            if document["media"]:
                self.stdout.write(media_text(document["media"]))
            for name in document["inverted"]:
                self.stdout.write(inverted_text(name))
            if document["negated"]:
                self.stdout.write(f"negated, because lower is better: {', '.join(document['negated'])}")
            if options["by_paradigm"]:
                self.stdout.write(paradigms_text(document))
            if "depth" in document:
                self.stdout.write(depth_text(document["depth"]))
