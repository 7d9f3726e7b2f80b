"""``manage.py compare``: models beside people, from files."""

from typing import Any

import pandas as pd

from analysis.comparison.depth import depth_report
from analysis.comparison.depth_table import depth_text
from analysis.comparison.files import read_human, read_judgments, read_pairs, read_scores
from analysis.comparison.report import compare_report
from analysis.comparison.roster import read_roster
from analysis.comparison.table import comparison_text, paradigms_text
from analysis.errors import BadInput
from analysis.releases.material_frames import pair_frame
from analysis.scoring.recorded import recorded_specs, recorded_text
from config.commands import ContractCommand
from experiments.names import find_materials


class Command(ContractCommand):
    """Compare models with people; only ``--materials`` asks the database."""

    help = (
        "Compare models with people on minimal pairs: BLiMP criterion, ADC, correlations, each beside "
        "chance, the constant baseline and the human ceiling. Works on files alone, or with the pairs of "
        "stored materials."
    )
    example = (
        "manage.py compare --human human.csv --pairs pairs.csv --scores trigram.csv gpt2.csv "
        "--judgments judgments.csv --delta 0.5 1 5 --in-depth --models models.csv --json"
    )

    def add_options(self, parser) -> None:
        """The files and the conventions."""
        parser.add_argument("--human", metavar="FILE", help="sentence_id, score[, n, sd]; without it no ADC")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "--pairs", metavar="FILE", help="pair_id, good_id, bad_id[, paradigm, phenomenon]"
        )
        source.add_argument("--materials", metavar="NAME", help="the pairs of a stored material set instead")
        parser.add_argument(
            "--scores", required=True, nargs="+", metavar="FILE", help="sentence_id and one column per model"
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
            help="also correlations, curves, tests, shallow predictors, prefix methods, learning curves, "
            "filtered training, decisions; the key depth of the document",
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

    def run(self, **options: Any) -> None:
        """Read the files, compare, print."""
        frames = (
            read_human(options["human"]) if options["human"] else None,
            stored_pairs(options["materials"]) if options["materials"] else read_pairs(options["pairs"]),
            read_scores(options["scores"]),
        )
        models = read_roster(options["models"]) if options["models"] else None
        shared = {
            "already_standardized": options["already_standardized"],
            "signs": options["signs"],
            "deltas": options["delta"],
            "judgments": read_judgments(options["judgments"]) if options["judgments"] else None,
            "seed": options["seed"],
        }
        document = compare_report(*frames, constants=options["constant"], **shared)
        if options["in_depth"]:
            document["depth"] = depth_report(*frames, models=models, **shared)
        document["scoring"] = recorded_specs(options["scores"], columns=list(frames[2].columns))
        if options["json"]:
            self.print_json(document)
        else:
            self.stdout.write(comparison_text(document))
            self.stdout.write(recorded_text(document["scoring"]))
            if options["by_paradigm"]:
                self.stdout.write(paradigms_text(document))
            if "depth" in document:
                self.stdout.write(depth_text(document["depth"]))


def stored_pairs(name: str) -> pd.DataFrame:
    """The pairs of a stored set, with every field that their source gave them."""
    pairs = pair_frame(find_materials(name))
    if pairs.empty:
        raise BadInput(f"the materials {name!r} hold no minimal pairs.", remedy="Give a file with --pairs.")
    rows = pairs.drop(columns="fields").to_dict("records")
    return pd.DataFrame([(fields or {}) | row for fields, row in zip(pairs["fields"], rows, strict=True)])
