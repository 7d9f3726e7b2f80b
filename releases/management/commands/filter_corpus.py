"""``manage.py filter_corpus``: take constructions out of a training corpus."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.corpora.conllu import read_conllu
from analysis.corpora.filtering import Progress, checksum, choose, report, survey
from analysis.corpora.filters import filter_names, find_filter
from analysis.corpora.parsing import parse_text
from analysis.corpora.sampling import UNITS
from analysis.corpora.writing import TEXTS, whole_folder, write_corpora, write_report
from analysis.errors import BadInput
from config.commands import ContractCommand

ALL = "all"


class Command(ContractCommand):
    """Survey first, then write every corpus; a failure leaves no folder."""

    help = (
        "Remove the sentences that have a construction from a corpus (filtered corpus training).\n"
        f"Filters: {', '.join(filter_names())}; {ALL}; or a .toml file of your own."
    )
    example = "manage.py filter_corpus wiki.conllu --filter passive --downsample sentences --out filtered"

    def add_options(self, parser: ArgumentParser) -> None:
        """The corpus, the filters, and how the corpora are made comparable."""
        parser.add_argument(
            "corpus", type=Path, metavar="CORPUS", help="CoNLL-U (.conllu), or text with a sentence per line"
        )
        parser.add_argument(
            "--filter",
            nargs="+",
            required=True,
            metavar="NAME|FILE",
            help=f"filters; {ALL} for the shipped ones",
        )
        parser.add_argument(
            "--out", required=True, type=Path, metavar="DIR", help="a folder that does not exist yet"
        )
        parser.add_argument(
            "--downsample", choices=UNITS, help="cut the full and all filtered corpora to one size"
        )
        parser.add_argument(
            "--size", type=int, metavar="N", help="that size; by default that of the smallest"
        )
        parser.add_argument("--seed", default=0, type=int, help="of the choice of sentences")
        parser.add_argument(
            "--text", choices=TEXTS, default="original", help="sentences as written, or their tokens"
        )
        parser.add_argument(
            "--language", default="en", metavar="CODE", help="of a text that Stanza is to parse"
        )

    def run(self, **options: Any) -> None:
        """Read the filters before the corpus: a mistake in them costs no time."""
        names = list(dict.fromkeys(
            name
            for argument in options["filter"]
            for name in (filter_names() if argument == ALL else [argument])
        ))  # fmt: skip
        filters = [find_filter(name) for name in names]
        corpus: Path = options["corpus"]
        if options["seed"] < 0:
            raise BadInput(f"the seed is {options['seed']}.", remedy="Give 0 or more.")
        with whole_folder(options["out"]) as draft:
            parsed = corpus
            if corpus.suffix.lower() != ".conllu":
                parsed = draft / "parsed.conllu"
                parse_text(
                    corpus, parsed, language=options["language"], progress=self._progress("parsed", options)
                )
            removals = survey(read_conllu(parsed), filters, progress=self._progress("filtered", options))
            chosen = choose(removals, unit=options["downsample"], seed=options["seed"], size=options["size"])
            corpus_options = {name: options[name] for name in ("downsample", "size", "seed", "text")}
            document = {
                "corpus": corpus.name, "sha256": checksum(corpus), **corpus_options,
                **report(removals, chosen, filters),
            }  # fmt: skip
            write_corpora(
                read_conllu(parsed), draft, surveyed=removals, chosen=chosen, filters=filters,
                text=options["text"], progress=self._progress("written", options),
            )  # fmt: skip
            write_report(document, draft)
        if self.wants_progress(options):
            self.stderr.write("")
        self._print(document, options)

    def _progress(self, step: str, options: dict[str, Any]) -> Progress | None:
        if not self.wants_progress(options):
            return None
        return lambda number: self.stderr.write(f"\r{step} {number:,} sentences", style_func=str, ending="")

    def _print(self, document: dict[str, Any], options: dict[str, Any]) -> None:
        if options["json"]:
            self.print_json({**document, "folder": str(options["out"])})
            return
        self.stdout.write(
            f"{document['sentences']:,} sentences, {document['tokens']:,} tokens in {document['corpus']}"
        )
        for row in document["filters"]:
            self.stdout.write(
                f"  {row['filter']:<30} removes {row['sentences_removed']:>9,} sentences"
                f" ({row['sentences_removed_percent']:.2f} %), {row['tokens_removed']:>11,} tokens"
            )
        for row in document["corpora"]:
            self.stdout.write(
                f"  {row['corpus']:<30} written {row['sentences']:>9,} sentences, {row['tokens']:>19,} tokens"
                f" ({row['tokens_percent_of_full']:.2f} % of full)"
            )
        self.stdout.write(f"wrote {options['out']}")
