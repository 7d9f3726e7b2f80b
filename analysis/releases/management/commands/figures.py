"""``manage.py figures``: a study's figures as files."""

from pathlib import Path
from typing import Any

from analysis.errors import BadInput, UnknownName
from analysis.figures import FIGURES, applicable, find_figure
from analysis.releases.plans import find_plan
from analysis.releases.study_evidence import FORMS, study_evidence, study_file
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """Draw every figure that applies; say why the others do not."""

    help = "Write a study's figures as SVG, PNG, PDF and CSV (the data drawn)."
    example = "manage.py figures blimp --out figures --exclude rejected --format svg,csv"

    def add_options(self, parser) -> None:
        """The study, the folder, and what to draw."""
        parser.add_argument("experiment", help="the study's short name")
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder of the files")
        parser.add_argument("--format", default="svg,png,pdf,csv", metavar="LIST", help=", ".join(FORMS))
        parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these figures only")
        parser.add_argument(
            "--exclude",
            default="",
            metavar="PLAN",
            help="a stored plan's name or a comma list of built-in steps",
        )
        parser.add_argument("--theme", default="light", choices=["light", "dark"], help="paper")
        parser.add_argument("--width", default=640, type=int, metavar="POINTS", help="of the whole figure")

    def run(self, **options: Any) -> None:
        """Draw everything first, then write, so that a failure leaves nothing half-written."""
        study = find_experiment(options["experiment"])
        forms = _forms(options["format"])
        names = [find_figure(name).name for name in options["only"]] or list(FIGURES)
        if not 200 <= options["width"] <= 4000:
            raise BadInput(f"the width is {options['width']}.", remedy="Give 200 to 4000 points.")
        if options["out"].exists() and not options["out"].is_dir():
            raise BadInput(f"{options['out']} is a file.", remedy="Name a folder.")
        find_plan(study, options["exclude"])
        drawable, others = applicable(study_evidence(study, exclude=options["exclude"]))
        wanted = [drawing.name for drawing in drawable if drawing.name in names]
        looks = {"mode": options["theme"], "width": options["width"]}
        files: dict[str, bytes] = {}
        for number, name in enumerate(wanted, start=1):
            if self.wants_progress(options):
                self.stderr.write(f"\r{number}/{len(wanted)} {name:<40}", ending="")
            for form in forms:
                content = study_file(study, name, form, exclude=options["exclude"], **looks)
                files[f"{study.slug}-{name}.{form}"] = content
        options["out"].mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (options["out"] / file).write_bytes(content)
        left = [(drawing.name, reason) for drawing, reason in others if drawing.name in names]
        self._tell(study.slug, options, sorted(files), left)

    def _tell(
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
        raise BadInput("no form of file is named.", remedy=f"Give some of {', '.join(FORMS)}.")
    for form in forms:
        if form not in FORMS:
            raise UnknownName("form of figure", form, FORMS)
    return list(dict.fromkeys(forms))
