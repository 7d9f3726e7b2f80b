"""``manage.py import_judgments``: import judgments that were collected elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.materials.readers.tool_files import find_tool
from experiments.studies.creation import find_materials, find_user
from judgments.imports.readers import SourceOptions, read_judgments
from judgments.imports.readers.materials import SPELLINGS
from judgments.imports.readers.presets import PRESETS, recognized_format
from judgments.imports.readers.prolific import (
    DemographicExport,
    join_demographics,
    read_demographic_export,
)
from judgments.imports.readers.registry import (
    READERS,
    parse_conditions,
    parse_judgment_mapping,
    parse_labels,
)
from judgments.imports.repeats import REPEATS
from judgments.imports.store import Prepared, file_sha256, prepare, store


class Command(ContractCommand):
    """Import judgments from a file."""

    help = "Import judgments collected elsewhere as sessions, trials and judgments of a study."
    example = (
        "manage.py import_judgments batch_results.csv --experiment 'BLiMP validation' --format mturk-batch"
    )

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the file, the study and the reading options."""
        parser.add_argument("path", type=Path, help="file of judgments, or a dataset folder of Hugging Face")
        parser.add_argument(
            "--experiment", required=True, metavar="NAME", help="study; created if it does not exist"
        )
        parser.add_argument(
            "--materials",
            default="",
            metavar="NAME",
            help="stored material set (default: the sentences of the file)",
        )
        parser.add_argument(
            "--format",
            required=True,
            choices=("auto", *READERS),
            help="auto names the tool whose export the file looks like, and stores nothing",
        )
        parser.add_argument(
            "--map",
            action="extend",
            nargs="+",
            default=[],
            metavar="OUR=THEIRS",
            help="our column=column of the file; repeatable; join several columns of the file with +",
        )
        parser.add_argument(
            "--language",
            default="",
            metavar="TAG",
            help="language of the sentences, BCP 47 (default: that of the materials, else en if English)",
        )
        parser.add_argument("--task", default="", help="task of the file (default: detected)")
        parser.add_argument(
            "--scale-low",
            type=float,
            help="lowest point of the scale; --scale-low 7 --scale-high 1 reverses the answers",
        )
        parser.add_argument("--scale-high", type=float, help="highest point of the scale")
        parser.add_argument(
            "--missing",
            action="extend",
            nargs="+",
            default=[],
            metavar="VALUE",
            help="answers that stand for no answer, such as 99, -99 or skipped",
        )
        parser.add_argument(
            "--labels",
            action="extend",
            nargs="+",
            default=[],
            metavar="ANSWER=MEANING",
            help="meaning of an answer, as of a button's index: a number, yes, no, good, bad, first, second",
        )
        parser.add_argument(
            "--where",
            action="extend",
            nargs="+",
            default=[],
            metavar="COLUMN=VALUE",
            help="read only the rows with this value; several of one column: any of them",
        )
        parser.add_argument("--encoding", default="", help="encoding of the file (default: detected)")
        parser.add_argument(
            "--repeats",
            default="",
            metavar="RULE",
            help="several judgments of one sentence by one participant: "
            f"{', '.join(REPEATS)} (default: number, with a warning)",
        )
        parser.add_argument(
            "--spelling",
            default="",
            metavar="RULE",
            help="several texts of one sentence, as where a spelling was corrected: "
            f"{', '.join(SPELLINGS)} takes one (default: refused)",
        )
        parser.add_argument(
            "--keep-names",
            action="store_true",
            help="ids of participants that may be names are codes: keep them as pseudonyms",
        )
        parser.add_argument(
            "--people",
            action="extend",
            nargs="+",
            default=[],
            metavar="COLUMN",
            help="columns with the answers of one person each (a wide table); 'annotator*' names several",
        )
        parser.add_argument(
            "--answers",
            action="extend",
            nargs="+",
            default=[],
            metavar="COLUMN",
            help="columns with the answers to one sentence each (a row for each person); 'Q*' names several",
        )
        parser.add_argument(
            "--sheet",
            default="",
            help="sheet of a spreadsheet (default: the first filled), or table of a dataset folder: "
            "configuration, or configuration/split",
        )
        parser.add_argument(
            "--demographics",
            type=Path,
            metavar="FILE",
            help="Prolific's demographic export, joined by participant or submission id",
        )
        parser.add_argument("--owner", default="", metavar="USER", help="owner of a study that is created")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be imported and store nothing"
        )

    def run(self, **options: Any) -> None:
        """Read the file, match it with materials, store it."""
        source = SourceOptions(
            mapping=parse_judgment_mapping(options["map"]),
            task=options["task"],
            scale_low=options["scale_low"],
            scale_high=options["scale_high"],
            encoding=options["encoding"],
            sheet=options["sheet"],
            people=tuple(options["people"]),
            answers=tuple(options["answers"]),
            missing=tuple(options["missing"]),
            labels=parse_labels(options["labels"]),
            where=parse_conditions(options["where"]),
        )
        if options["format"] == "auto":
            options["format"] = self._recognize_format(source, options)
        with self.working(options, f"reading {options['path'].name}"):
            read = read_judgments(options["path"], options["format"], options=source)
            if options["demographics"]:
                read = join_demographics(read, self._demographics(options["demographics"]))
        inferred, n_judgments = read.inferred, len(read.judgments)
        with self.working(options, f"matching {n_judgments:,} judgments"):
            prepared = prepare(
                read,
                sha256=file_sha256(options["path"]),
                experiment=options["experiment"],
                materials=find_materials(options["materials"]) if options["materials"] else None,
                repeats=options["repeats"],
                spelling=options["spelling"],
                language=options["language"],
                keep_names=options["keep_names"],
            )
        del read  # the prepared one has columns of its own
        report = prepared.describe() if options["dry_run"] else self._store(prepared, options)
        report["dry_run"] = options["dry_run"]
        if options["json"]:
            self.print_json(report)
        else:
            self._print_report(report)
            if inferred is not None:
                self.stdout.write(inferred.summary)

    def _demographics(self, path: Path) -> DemographicExport:
        try:
            return read_demographic_export(path.read_bytes(), file=path.name)
        except OSError as error:
            raise BadInput(f"cannot be read ({error.strerror}).", file=str(path)) from error

    def _recognize_format(self, source: SourceOptions, options: dict[str, Any]) -> str:
        """Return the format that the file looks like; only a dry run goes on with it."""
        name, reason = recognized_format(options["path"], source)
        file = options["path"].name
        if not name:
            tool_file = find_tool(options["path"])
            raise BadInput(
                f"this is {tool_file.tool.label}." if tool_file else "looks like no tool's export.",
                file=file,
                remedy=tool_file.remedy if tool_file else "Name the format, or --format table.",
            )
        label = f" ({PRESETS[name].label})" if name in PRESETS else ""
        guess = f"looks like {name}{label}: {reason}."
        if not options["dry_run"]:
            raise BadInput(guess, file=file, remedy=f"If it is, import it with --format {name}.")
        self.stderr.write(f"{file} {guess}")
        return name

    def _store(self, prepared: Prepared, options: dict[str, Any]) -> dict[str, Any]:
        if not self.wants_progress(options):
            return store(prepared, user=find_user(options["owner"])).report
        with Progress(console=Console(stderr=True)) as bar:
            line = bar.add_task("judgments", total=None)
            return store(
                prepared,
                user=find_user(options["owner"]),
                progress=lambda n_done, total: bar.update(line, completed=n_done, total=total),
            ).report

    def _print_report(self, report: dict[str, Any]) -> None:
        kinds = ", ".join(f"{n} {kind}" for kind, n in report["by_kind"].items())
        self.stdout.write(f"{report['file']} ({report['encoding']})")
        self.stdout.write(
            f"{report['participants']} participants, {report['sessions']} sessions, "
            f"{report['judgments']} judgments ({kinds}; {report['missing']} missing)"
        )
        for label, messages in (("note", report["notes"]), ("warning", report["warnings"])):
            for message in messages:
                self.stdout.write(f"{label}: {message}")
        for field, column in report["columns"].items():
            self.stdout.write(f"  {field} = {column}")
        for key, place in (("kept_with_trials", "each trial"), ("kept_with_participants", "participants")):
            if report[key]:
                self.stdout.write(f"stored with {place}: {', '.join(report[key])}")
        if report["dry_run"]:
            n_new, n_stored = report["sessions_new"], report["sessions_already_here"]
            self.stdout.write(
                f"{n_new} sessions would be imported ({n_stored} are stored already); nothing was stored."
            )
        else:
            added = report["added"]
            self.stdout.write(
                f"Added to {report['experiment']}: {added['participants']} participants, "
                f"{added['sessions']} sessions, {added['judgments']} judgments."
            )
