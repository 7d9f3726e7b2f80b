"""``manage.py treebank_pairs``: minimal pairs of agreement from treebanks, by swapped inflection."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.files import atomic_write
from analysis.gold.writers import jsonl_bytes
from analysis.text import plural
from config.commands import ContractCommand
from experiments.generation.treebank import SHIPPED, Origin, treebank_pairs

MAX_REASONS = 6  # printed of each phenomenon; --json has all


class Command(ContractCommand):
    """Write pairs of agreement from treebanks and a table of inflections."""

    help = (
        "Write minimal pairs of agreement in any language: sentences of treebanks (CoNLL-U), and the same "
        "sentences with the agreeing word in the form of another number, person or gender, from a table of "
        "lemma, form and features. The report counts what was left out by reason."
    )
    example = (
        "manage.py treebank_pairs fi_tdt-ud-dev.conllu --inflections fin.tsv --language fi "
        "--licence 'CC BY-SA 4.0' --to pairs.jsonl"
    )

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("treebanks", nargs="+", type=Path, metavar="FILE", help="CoNLL-U files")
        parser.add_argument(
            "--inflections", nargs="+", required=True, type=Path, metavar="TABLE",
            help="lemma, form, features by tabs, with UD features or UniMorph tags; or .conllu files",
        )  # fmt: skip
        parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="file of pairs (.jsonl)")
        parser.add_argument("--language", required=True, help="BCP 47 tag, for example fi")
        parser.add_argument("--phenomena", nargs="+", default=[], metavar="NAME", help=(
            "such as subject_verb_number, determiner_noun_gender (default: those of subjects, or all of "
            "a file of your own)"
        ))  # fmt: skip
        parser.add_argument(
            "--relations", type=Path, default=SHIPPED, metavar="FILE", help="relations of your own (.toml)"
        )
        parser.add_argument("--proper-names", action="store_true", help="proper names are subjects, too")
        parser.add_argument(
            "--per-condition", type=int, default=100, metavar="K", help="pairs at most; 0 is all (100)"
        )
        parser.add_argument("--seed", type=int, default=0, help="of the draw (0)")
        parser.add_argument("--treebank", default="", help="its name (default: the file's)")
        parser.add_argument("--licence", default="", help="of the treebank")

    def run(self, **options: Any) -> None:
        """Make all pairs, then write them."""
        origin = Origin(options["language"], options["treebank"], options["licence"])
        with self.working(options, "reading"):
            rows, report = treebank_pairs(
                options["treebanks"], options["inflections"], origin=origin,
                relations=options["relations"], names=options["phenomena"],
                proper_names=options["proper_names"], per_condition=options["per_condition"],
                seed=options["seed"],
            )  # fmt: skip
        with atomic_write(options["to"]) as temporary:
            temporary.write_bytes(jsonl_bytes(rows))
        if options["json"]:
            self.print_json({**report, "file": str(options["to"])})
        else:
            self._print(report)

    def _print(self, report: dict[str, Any]) -> None:
        self.stdout.write(
            f"{plural(report['sentences'], 'sentence')} ({report['long_sentences']:,} too long), "
            f"{plural(report['table_rows'], 'row')} of inflections"
        )
        for phenomenon in report["phenomena"]:
            self.stdout.write(f"{phenomenon['phenomenon']}: {plural(phenomenon['pairs'], 'pair')}")
            for test in phenomenon["agreement"]:
                self.stdout.write(
                    f"    {test['value']} {test['order']}: {test['agree']:,} of {test['instances']:,} agree, "
                    f"agreement {test['status']}"
                )
            for condition in phenomenon["conditions"]:
                few = "" if condition["reported"] else " (too few to report by itself)"
                self.stdout.write(f"    {condition['condition']}: {condition['pairs']:,}{few}")
            reasons = list(phenomenon["dropped"].items())
            for reason, number in reasons[:MAX_REASONS]:
                self.stdout.write(f"    left out, {reason}: {number:,}")
            if len(reasons) > MAX_REASONS:
                rest = sum(number for _, number in reasons[MAX_REASONS:])
                self.stdout.write(f"    left out for {len(reasons) - MAX_REASONS} other reasons: {rest:,}")
        if report["conflicting_cells"]:
            self.stdout.write(f"{plural(report['conflicting_cells'], 'cell')} with two forms, not used:")
            for conflict in report["conflicts"]:
                self.stdout.write(f"    {conflict}")
        for note in report["notes"]:
            self.stdout.write(note)
