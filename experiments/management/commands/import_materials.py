"""``manage.py import_materials``: store files of sentences or minimal pairs as a material set."""

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress as Bar

from analysis.text import plural
from config.commands import ContractCommand
from experiments.intake.language import language_of_texts
from experiments.materials.findings import LEFT_OUT_FOR, MAX_ROWS, REMEDIES, Report, list_rows
from experiments.materials.schema import FORMATS, parse_mapping
from experiments.studies.creation import find_user

if TYPE_CHECKING:
    from experiments.intake.store import MaterialSetInfo, StoreResult

MAX_LISTED = 5  # findings of each code


class Command(ContractCommand):
    """Store a material set and report duplicates, holes, identical members and stray characters."""

    help = "Store sentences and minimal pairs from files; report duplicates, holes and identical members."
    example = "manage.py import_materials data/*.jsonl --name BLiMP --language en"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paths",
            nargs="+",
            type=Path,
            metavar="PATH",
            help="a file, a folder of files, or a dataset folder of Hugging Face",
        )
        parser.add_argument("--name", required=True, help="name of the material set")
        parser.add_argument("--format", default="auto", metavar="FORMAT", help=" | ".join(FORMATS))
        parser.add_argument(
            "--language",
            default="",
            help="BCP 47 tag, for example en or zh-Hans (default: en where the sentences look English)",
        )
        parser.add_argument("--source", default="", help="where the materials were published")
        parser.add_argument("--licence", default="", help="under which licence")
        parser.add_argument(
            "--map",
            action="extend",
            nargs="+",
            default=[],
            metavar="OURS=THEIRS",
            help="our column=the file's column; condition=structure+distance makes two factors",
        )
        parser.add_argument(
            "--levels",
            action="extend",
            nargs="+",
            default=[],
            metavar="FACTOR=LEVEL,LEVEL",
            help="order of a factor's levels; 0:non-island names the level of the value 0",
        )
        parser.add_argument("--encoding", default="", help="taken instead of the detected encoding")
        parser.add_argument(
            "--split-paradigms",
            action="store_true",
            help="name paradigms phenomenon:paradigm where several phenomena number them alike",
        )
        parser.add_argument(
            "--header-row",
            type=int,
            default=0,
            metavar="N",
            help="row of the column names (default: the first)",
        )
        parser.add_argument(
            "--split-condition",
            default="",
            metavar="SEPARATOR=FACTOR,FACTOR",
            help="split conditions such as g_sg into factors, for example _=grammaticality,number",
        )
        parser.add_argument(
            "--sheet",
            default="",
            help="sheet of a spreadsheet (default: the first filled), or table of a dataset folder: "
            "configuration, or configuration/split",
        )
        parser.add_argument("--owner", default="", metavar="USER", help="user to whom the set belongs")
        parser.add_argument(
            "--leave-out",
            action="append",
            default=[],
            metavar="CHECK",
            help=f"leave out the items that a check names, repeatable: {', '.join(LEFT_OUT_FOR)}",
        )
        parser.add_argument("--dry-run", action="store_true", help="read and check, store nothing")

    def run(self, **options: Any) -> None:
        """Read, check and store the files, and print a summary."""
        from experiments.intake.store import MaterialSetInfo, import_report, refuse_errors, store_materials
        from experiments.materials.checks import check
        from experiments.materials.factors import parse_levels
        from experiments.materials.leaving_out import leave_out
        from experiments.materials.readers.detect import read_materials
        from experiments.materials.readers.layout import parse_split

        origin = {"source": options["source"], "licence": options["licence"]}
        info = MaterialSetInfo(options["name"], options["language"] or "en", **origin)
        owner = find_user(options["owner"])
        with self.working(options, "reading"):
            materials = read_materials(
                options["paths"],
                format=options["format"],
                mapping=parse_mapping(options["map"]),
                levels=parse_levels(options["levels"]),
                encoding=options["encoding"],
                sheet=options["sheet"],
                split_paradigms=options["split_paradigms"],
                header_row=options["header_row"],
                split=parse_split(options["split_condition"]),
            )
            materials = leave_out(materials, options["leave_out"])
        if not options["language"]:
            language, warning = language_of_texts(materials.sentences["text"])
            info = MaterialSetInfo(options["name"], language, **origin)
            if warning:
                self.stderr.write(f"warning: {warning}")
        with self.working(options, f"checking {len(materials.sentences):,} sentences"):
            report = check(materials)
        refuse_errors(report)
        stored = None
        if not options["dry_run"]:
            with Bar(console=Console(stderr=True), disable=not self.wants_progress(options)) as bar:
                task = bar.add_task("storing", total=None)
                stored = store_materials(
                    materials,
                    info,
                    owner=owner,
                    report=report,
                    progress=lambda n_stored, total: bar.update(task, completed=n_stored, total=total),
                )
        summary = import_report(materials, report)
        if options["json"]:
            self.print_json({**_outcome(info, stored), "checksum": materials.checksum, **summary})
        else:
            self._print_summary(info, stored, summary, report)
            for source in materials.sources:
                if source.inferred is not None:
                    self.stdout.write(source.inferred.summary)

    def _print_summary(
        self, info: "MaterialSetInfo", stored: "StoreResult | None", summary: dict[str, Any], report: Report
    ) -> None:
        """Print what was read, found and stored."""
        for source in summary["sources"]:
            notes = "".join(f"; {note}" for note in source["notes"])
            self.stdout.write(f"{source['file']}: {source['rows']:,} rows, {source['description']}{notes}")
        counts = summary["counts"]
        discarded = (
            f" ({counts['pairs_discarded']} marked for discarding)" if counts["pairs_discarded"] else ""
        )
        self.stdout.write(
            f"Form {summary['format']}: {plural(counts['sentences'], 'sentence')}, "
            f"{plural(counts['items'], 'item')}, {plural(counts['pairs'], 'pair')}{discarded}, "
            f"{plural(counts['paradigms'], 'paradigm')}, "
            f"{plural(counts['phenomena'], 'phenomenon', 'phenomena')}."
        )
        if summary["factors"]:
            factors = " × ".join(
                f"{name} ({', '.join(levels)})" for name, levels in summary["factors"].items()
            )
            self.stdout.write(f"Factors: {factors}.")
        if counts["fillers"]:
            self.stdout.write(f"Fillers: {counts['fillers']:,} of the sentences.")
        self._print_findings(report)
        if stored is None:
            self.stdout.write("Dry run: nothing stored.")
        elif stored.created:
            self.stdout.write(f"Stored as {info.name!r}.")
        else:
            self.stdout.write(f"{info.name!r} holds exactly this already: nothing stored.")

    def _print_findings(self, report: Report) -> None:
        for code, number in report.counts.items():
            same = [finding for finding in report.findings if finding.code == code]
            self.stdout.write(f"{same[0].severity} {code}: {number}")
            for finding in same[:MAX_LISTED]:
                location = f"{finding.file}, row {finding.row}: " if finding.row else ""
                self.stdout.write(f"    {location}{finding.message}")
            if number > MAX_LISTED:
                self.stdout.write(f"    … and {number - MAX_LISTED} more")
            if number > 1 and same[0].severity != "note" and (rows := report.rows[code]):
                self.stdout.write(f"    {list_rows(rows, has_more=number > MAX_ROWS)}")
            if code in REMEDIES:
                self.stdout.write(f"    {REMEDIES[code]}")


def _outcome(info: "MaterialSetInfo", stored: "StoreResult | None") -> dict[str, Any]:
    return {
        "material_set": info.name,
        "slug": stored.material_set.slug if stored else None,
        "language": info.language,
        "created": bool(stored and stored.created),
        "dry_run": stored is None,
    }
