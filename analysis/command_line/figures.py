"""Options and files of the command ``figures``: every applicable figure of judgments or compared models."""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadInput, UnknownName
from .output import CommandOutput

if TYPE_CHECKING:
    import pandas as pd

# Figures need the extra; the other commands work without it.
FORMS = ("svg", "png", "pdf", "csv")


class FigureFiles(CommandOutput):
    """Draw every applicable figure; report why the others are not."""

    def add_figure_options(self, parser: ArgumentParser) -> None:
        """The folder, the figures and their looks."""
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder of the files")
        parser.add_argument("--format", default="svg,png,pdf,csv", metavar="LIST", help=", ".join(FORMS))
        parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="only these figures")
        parser.add_argument(
            "--theme", default="light", choices=["light", "dark"], help="light or dark colours"
        )
        parser.add_argument("--width", default=640, type=int, metavar="POINTS", help="width of the figure")

    def checked_choices(self, options: dict[str, Any]) -> tuple[list[str], list[str]]:
        """The names of the figures and the file formats; raises BadInput before anything is read."""
        registry = figures_module()
        forms = parse_forms(options["format"])
        names = [registry.find_figure(name).name for name in options["only"]] or list(registry.FIGURES)
        if not 200 <= options["width"] <= 4000:
            raise BadInput(f"the width is {options['width']}.", remedy="Give 200 to 4000 points.")
        if options["out"].exists() and not options["out"].is_dir():
            raise BadInput(f"{options['out']} is a file.", remedy="Name a folder.")
        return names, forms

    def write_figures(
        self,
        prefix: str,
        evidence: Any,
        options: dict[str, Any],
        *,
        names: Sequence[str],
        forms: Sequence[str],
        content: Callable[[str, str], bytes],
    ) -> None:
        """Draw everything before writing, so that a failure leaves no partial output."""
        drawable, inapplicable = figures_module().applicable(evidence)
        chosen = [drawing.name for drawing in drawable if drawing.name in names]
        files: dict[str, bytes] = {}
        for number, name in enumerate(chosen, start=1):
            if self.wants_progress(options):
                self.stderr.write(f"\r{number}/{len(chosen)} {name:<40}", ending="")
            files |= {f"{prefix}-{name}.{form}": content(name, form) for form in forms}
        options["out"].mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            (options["out"] / file).write_bytes(data)
        left = [(drawing.name, reason) for drawing, reason in inapplicable if drawing.name in names]
        self._print(prefix, options, sorted(files), left)

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


class FileFigures(FigureFiles):
    """The figures of files: judgments, and models compared with humans."""

    help = "Write figures of judgments, or of models beside people, as SVG, PNG, PDF and CSV (data drawn)."

    def add_options(self, parser: ArgumentParser) -> None:
        """The files, the plan, and the figures."""
        parser.add_argument(
            "judgments", nargs="?", metavar="FILE", help="judgments: CSV, TSV, JSONL or Parquet"
        )
        parser.add_argument("--pairs", metavar="FILE", help="pair_id, good_id, bad_id: figures of models")
        parser.add_argument(
            "--scores", nargs="+", metavar="FILE", help="sentence_id and one column per model"
        )
        parser.add_argument("--human", metavar="FILE", help="sentence_id, score[, n, sd]")
        parser.add_argument(
            "--sign", nargs="+", default=[], metavar="[COLUMN=]lower|higher", help="as of compare"
        )
        parser.add_argument("--name", default="", help="first part of the files' names; default: the file's")
        parser.add_argument(
            "--exclude", default="", metavar="STEPS", help="steps such as rejected,catch_failed"
        )
        self.add_figure_options(parser)

    def run(self, **options: Any) -> None:
        """Read the files, draw, write."""
        names, forms = self.checked_choices(options)
        if not options["judgments"] and not options["scores"]:
            raise BadInput("there is nothing to draw.", remedy="Give judgments, or --pairs and --scores.")
        if bool(options["pairs"]) != bool(options["scores"]):
            raise BadInput("figures of models need pairs and scores.", remedy="Give --pairs and --scores.")
        registry = figures_module()
        evidence = file_evidence(options)
        appearance = {"mode": options["theme"], "width": options["width"]}
        charts: dict[str, Any] = {}

        def content(name: str, form: str) -> bytes:
            if name not in charts:
                charts[name] = registry.draw(name, evidence)
            file: bytes = registry.export_figure(charts[name], form, **appearance)
            return file

        prefix = options["name"] or Path(options["judgments"] or options["scores"][0]).stem
        self.write_figures(prefix, evidence, options, names=names, forms=forms, content=content)


def figures_module() -> Any:
    """The figures, which load Altair; one line where the extra is not installed."""
    try:
        from .. import figures
    except ModuleNotFoundError as error:
        raise BadInput(
            f"figures need {error.name}.", remedy="Install it: pip install 'obelus-judgments[figures]'."
        ) from error
    return figures


def file_evidence(options: dict[str, Any]) -> Any:
    """The data of the figures, from the files that the options name."""
    from ..comparison.files import read_human, read_pairs, read_scores
    from ..comparison.pairs import refuse_inverted
    from ..exclusions.plan import parse_plan
    from ..judgment_tables import read_judgment_file
    from ..scoring.orientation import parse_signs

    plan = parse_plan(options["exclude"])
    judgments = (
        read_judgment_file(options["judgments"], keep_excluded=bool(plan.steps))
        if options["judgments"]
        else None
    )
    signs = parse_signs(options["sign"])
    evidence = figures_module().Evidence(
        judgments=judgments,
        plan=plan,
        human=read_human(options["human"]) if options["human"] else None,
        pairs=read_pairs(options["pairs"]) if options["pairs"] else None,
        scores=read_scores(options["scores"], signs=signs) if options["scores"] else None,
        **texts_of_judgments(judgments),
    )
    if evidence.table is not None:
        refuse_inverted(evidence.table, evidence.scores.attrs["signs"])
    return evidence


def texts_of_judgments(judgments: "pd.DataFrame | None") -> dict[str, dict[str, str]]:
    """Texts of sentences and of pairs, where the file has them, as the download of all columns does."""
    if judgments is None:
        return {}
    texts: dict[str, dict[str, str]] = {}
    if {"sentence_id", "sentence"} <= set(judgments.columns):
        rows = judgments.drop_duplicates("sentence_id")
        texts["sentences"] = dict(zip(rows["sentence_id"], rows["sentence"], strict=True))
    if {"item", "sentence_good", "sentence_bad"} <= set(judgments.columns):
        rows = judgments.drop_duplicates("item")
        joined = rows["sentence_good"] + " / " + rows["sentence_bad"]
        texts["members"] = dict(zip(rows["item"], joined, strict=True))
    return texts


def parse_forms(text: str) -> list[str]:
    """Parse the comma-separated file formats."""
    forms = [word.strip() for word in text.split(",") if word.strip()]
    if not forms:
        raise BadInput("no file format is given.", remedy=f"Use some of {', '.join(FORMS)}.")
    for form in forms:
        if form not in FORMS:
            raise UnknownName("form of figure", form, FORMS)
    return list(dict.fromkeys(forms))
