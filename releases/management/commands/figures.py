"""``manage.py figures``: a study's figures as files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, UnknownName
from analysis.figures import FIGURES, applicable, find_figure
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.gold.plans import find_plan
from releases.management.report_command import EXCLUDE_HELP, named_exclusion
from releases.reports.study_figures import FORMS, study_evidence, study_file


class Command(ContractCommand):
    """Draw every applicable figure; report why the others are not."""

    help = "Write a study's figures as SVG, PNG, PDF and CSV (the data drawn)."
    example = "manage.py figures blimp --out figures --exclude rejected --format svg,csv"

    def add_options(self, parser: ArgumentParser) -> None:
        """The study, the folder, and the figures."""
        parser.add_argument("experiment", help="the study's short name")
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder of the files")
        parser.add_argument("--format", default="svg,png,pdf,csv", metavar="LIST", help=", ".join(FORMS))
        parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="only these figures")
        parser.add_argument("--exclude", default="", metavar="PLAN", help=EXCLUDE_HELP)
        parser.add_argument(
            "--theme", default="light", choices=["light", "dark"], help="light or dark colours"
        )
        parser.add_argument("--width", default=640, type=int, metavar="POINTS", help="width of the figure")

    def run(self, **options: Any) -> None:
        """Draw everything before writing, so that a failure leaves no partial output."""
        study = find_experiment(options["experiment"])
        forms = _forms(options["format"])
        names = [find_figure(name).name for name in options["only"]] or list(FIGURES)
        if not 200 <= options["width"] <= 4000:
            raise BadInput(f"the width is {options['width']}.", remedy="Give 200 to 4000 points.")
        if options["out"].exists() and not options["out"].is_dir():
            raise BadInput(f"{options['out']} is a file.", remedy="Name a folder.")
        options["exclude"] = named_exclusion(self, study, options["exclude"])
        find_plan(study, options["exclude"])
        drawable, inapplicable = applicable(study_evidence(study, exclude=options["exclude"]))
        selected = [drawing.name for drawing in drawable if drawing.name in names]
        choices = {"exclude": options["exclude"]}
        appearance = {"mode": options["theme"], "width": options["width"]}
        files: dict[str, bytes] = {}
        for number, name in enumerate(selected, start=1):
            if self.wants_progress(options):
                self.stderr.write(f"\r{number}/{len(selected)} {name:<40}", ending="")
            for form in forms:
                content = study_file(study, name, form, choices=choices, may_wait=True, **appearance)
                files[f"{study.slug}-{name}.{form}"] = content
        options["out"].mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (options["out"] / file).write_bytes(content)
        left = [(drawing.name, reason) for drawing, reason in inapplicable if drawing.name in names]
        self._print(study.slug, options, sorted(files), left)

    def _print(
        self, slug: str, options: dict[str, Any], files: list[str], left: list[tuple[str, str]]
    ) -> None:
        if options["json"]:
            reasons = [{"figure": name, "reason": reason} for name, reason in left]
            folder = str(options["out"])
            self.print_json({"experiment": slug, "folder": folder, "files": files, "not_drawn": reasons})
            return
        if self.wants_progress(options):
            self.stderr.write("")
        self.stdout.write(f"wrote {len(files)} files to {options['out']}")
        for name, reason in left:
            self.stdout.write(f"  not {name}: {reason}")


def _forms(text: str) -> list[str]:
    forms = [word.strip() for word in text.split(",") if word.strip()]
    if not forms:
        raise BadInput("no file format is given.", remedy=f"Use some of {', '.join(FORMS)}.")
    for form in forms:
        if form not in FORMS:
            raise UnknownName("form of figure", form, FORMS)
    return list(dict.fromkeys(forms))
