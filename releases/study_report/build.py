"""Build the report of a study and its replication package: the same bytes for the same data and code.

Every number is computed from the files of a gold release, as ``analyse.py`` of the package does; figures are
drawn from the study's judgments under the same plan.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import typst
from django.conf import settings
from django.template.loader import render_to_string

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.effects.equivalence import check_sesoi
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Plan
from analysis.gold.writers import csv_bytes, json_bytes
from analysis.report.content import Figure
from analysis.report.document import FIGURES, Report, assemble_report
from analysis.report.numbers import numbers_bytes, report_numbers
from analysis.report.released import (
    COUNTS,
    REMOVED,
    ROSTER,
    SCORES,
    STUDY,
    Released,
    read_released,
    removed_bytes,
)
from analysis.report.sections.models import model_figures
from analysis.report.typeset import MAX_FIGURE_HEIGHT, PAGE_WIDTH, needs_fonts, typst_source
from analysis.text import no_formula
from experiments.models import Experiment
from releases.comparison.compare import count_table
from releases.gold.build import build_release, rename_ids
from releases.gold.describe import file_manifest
from releases.gold.options import Options, ReportOptions
from releases.gold.plans import find_plan, judgments_for
from releases.gold.storage import MANIFEST, Files, checksum
from releases.gold.study_facts import study_facts
from releases.material_frames import score_table
from releases.models import ScoringRun
from releases.reports.study_figures import study_evidence
from releases.scoring.training_metadata import run_roster
from releases.study_report.replication import package

FORMAT = "obelus-report/1"
HTML, PDF, NUMBERS, PACKAGE = "report.html", "report.pdf", "numbers.json", "replication.zip"
FILES = {
    HTML: "the report as one page, figures inside",
    PDF: "the report for printing",
    NUMBERS: "every number of the report",
    PACKAGE: "data, program and expected numbers: shows that the numbers follow from the release",
}
WIDE, NARROW, MAX_WIDTH = 720, 330, 1600
READABLE = (720, 760, 800, 830)
"""Widths at which letters are readable on paper, at least 7 points; the last fits the longest row names."""
Progress = Callable[[int, int, str], None]
_SIZE = re.compile(rb'<svg[^>]* width="([0-9.]+)" height="([0-9.]+)"')
_IDS = re.compile(r'(id="|url\(#|href="#)')


@dataclass(frozen=True)
class BuiltReport:
    """The files of a report, and its numbers."""

    files: dict[str, bytes]
    numbers: dict[str, Any]

    @property
    def sha256(self) -> str:
        """Checksum of the manifest, which contains those of all other files."""
        return checksum(self.files[MANIFEST])


def build_report(
    study: Experiment, options: Options, *, has_pdf: bool = True, progress: Progress | None = None
) -> BuiltReport:
    """Every file of the report."""
    if isinstance(options, ReportOptions) and options.sesoi is not None:
        check_sesoi(options.sesoi, study.task)
    notify = progress or (lambda step, total, message: None)
    steps = 13
    notify(0, steps, "building the release")
    release = dict(build_release(study, options).files)
    facts = study_facts(study, options.round_number)
    data = {**release, REMOVED: _verdicts(study, options), STUDY: json_bytes(facts), **_scores(study)}
    released = read_released(data)
    numbers = report_numbers(released, progress=lambda step, _, name: notify(1 + step, steps, name))
    notify(10, steps, "drawing")
    figures, charts = _charts(study, options, numbers)
    report = assemble_report(released, numbers, figures)
    files = {HTML: html_report(report, charts), NUMBERS: numbers_bytes(numbers)}
    notify(11, steps, "setting the pages")
    if has_pdf:
        files[PDF] = pdf_report(report, charts)
    files[PACKAGE] = package(f"{study.slug}-replication", data, numbers_bytes(numbers), reports=dict(files))
    notify(12, steps, "storing")
    return BuiltReport({**files, MANIFEST: json_bytes(_manifest(released, files))}, numbers)


def html_report(report: Report, charts: dict[str, Any]) -> bytes:
    """One self-contained page with style and figures."""
    theme = analysis.figures.theme
    drawings = {
        name: {
            "wide": _inline(analysis.figures.export_figure(chart, "svg", width=WIDE), f"{name}-w"),
            "narrow": _inline(analysis.figures.export_figure(chart, "svg", width=NARROW), f"{name}-n"),
            "keeps": theme.keeps_colours(chart),
        }
        for name, chart in charts.items()
    }
    papers = [(colours["light"], colours["dark"]) for colours in (theme.INK, theme.QUIET, theme.LINE)]
    marks = list(zip(theme.MODELS["light"], theme.MODELS["dark"], strict=True))
    context = {"report": report, "drawn": drawings, "papers": papers, "marks": marks}
    return render_to_string("releases/report/report.html", context).encode()


def pdf_report(report: Report, charts: dict[str, Any]) -> bytes:
    """The report on A4; fonts of ``PDF_FONTS`` are used only for characters that the built-in fonts lack."""
    sizes = {name: _page_size(chart) for name, chart in charts.items()}
    files = {
        f"{name}.pdf": analysis.figures.export_figure(chart, "pdf", width=sizes[name][0])
        for name, chart in charts.items()
    }
    files["main.typ"] = typst_source(report, {name: shape for name, (_, shape) in sizes.items()}).encode()
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        font_folders = settings.PDF_FONTS if needs_fonts(report.text) else []
        fonts = typst.Fonts(include_system_fonts=False, font_paths=font_folders)
        main, root = Path(folder, "main.typ"), Path(folder)
        return bytes(typst.compile(main, root=root, font_paths=fonts))


def _scores(study: Experiment) -> dict[str, bytes]:
    """Scores of the finished runs on the study's sentences, their metadata and counts; none without runs."""
    runs = list(ScoringRun.objects.of_study(study).done().order_by("pk"))
    if study.materials_id is None or not runs:
        return {}
    scores, counts = score_table(runs), count_table(runs)
    models = run_roster(runs, [str(name) for name in scores.columns[1:]])
    scores = scores.rename(columns=no_formula)  # names of models
    names = ["model", "name", "family", "seed", "corpus"]
    models[names] = models[names].map(no_formula, na_action="ignore")
    counts["model"] = counts["model"].map(no_formula)
    tables = {SCORES: scores, ROSTER: models, COUNTS: counts}
    return {name: csv_bytes(table, tuple(map(str, table.columns))) for name, table in tables.items()}


def _verdicts(study: Experiment, options: Options) -> bytes:
    """Which step removes which row, with the release's names of rows."""
    plan = find_plan(study, options.exclude)
    judgments = judgments_for(study, plan, round_number=options.round_number)
    names = dict(
        zip(
            judgments["trial"].astype(str),
            rename_ids(judgments, apply_plan(judgments, plan))["trial"],
            strict=True,
        )
    )
    tables = []
    for step in plan.steps:
        mask = apply_plan(judgments, Plan(step.name, [step])).mask
        trials = mask["trial"].astype(str).map(names).drop_duplicates()
        tables.append(pd.DataFrame({"trial": trials.to_numpy(), "step": step.name}))
    if not tables:
        return removed_bytes(pd.DataFrame({"trial": [], "step": []}))
    return removed_bytes(pd.concat(tables, ignore_index=True))


def _charts(
    study: Experiment, options: Options, numbers: dict[str, Any]
) -> tuple[list[Figure], dict[str, Any]]:
    """The applicable figures in the report's order; effects and power are drawn from the computed numbers."""
    evidence = study_evidence(study, exclude=options.exclude, round_number=options.round_number)
    evidence = replace(evidence, outliers=getattr(options, "outliers", ""))
    if "refused" not in numbers.get("multiverse", {"refused": ""}):
        evidence = replace(evidence, multiverse=numbers["multiverse"])
    if "refused" not in numbers["effects"]:
        evidence = replace(evidence, by=numbers["by"], effects=numbers["effects"])
    if "refused" not in numbers["power"]:
        evidence = replace(evidence, replication=numbers["power"])
    drawable = {drawing.name: evidence for drawing in analysis.figures.applicable(evidence, about="study")[0]}
    drawable |= dict.fromkeys(model_figures(numbers), replace(evidence, report=numbers.get("models")))
    figures, charts = [], {}
    plugins = [plugin.name for plugin in analysis.figures.FIGURES.plugins()]  # after the built-in ones
    for drawing in (analysis.figures.find_figure(name) for name in (*FIGURES, *plugins) if name in drawable):
        parts = analysis.figures.row_parts(analysis.figures.draw(drawing.name, drawable[drawing.name]))
        for number, chart in enumerate(parts, start=1):
            beside = f", part {number} of {len(parts)}" if len(parts) > 1 else ""
            shows = f"{drawing.title}{beside}. {drawing.shows}."
            figures.append(Figure(drawing.name, drawing.title, shows, part=number if beside else 0))
            charts[figures[-1].key] = chart
    return figures, charts


def _inline(svg: bytes, prefix: str) -> str:
    """An SVG to embed beside others in one page, with unique ids."""
    text = svg.decode().replace(
        "<svg ", '<svg aria-hidden="true" ', 1
    )  # its container has the text alternative
    return _IDS.sub(lambda match: f"{match[1]}{prefix}-", text)


def _page_size(chart: Any) -> tuple[int, float]:
    """The width at which a figure fits a page, and its height by width.

    A high figure is drawn wider and then shrunk. Names of rows take fewer lines in a wider figure, so
    that readable widths are tried first.
    """
    for width in READABLE:
        shape = _shape(analysis.figures.export_figure(chart, "svg", width=width))
        if shape * PAGE_WIDTH <= MAX_FIGURE_HEIGHT:
            return width, shape
    width = min(MAX_WIDTH, round(READABLE[-1] * shape * PAGE_WIDTH / MAX_FIGURE_HEIGHT))
    return width, _shape(analysis.figures.export_figure(chart, "svg", width=width))


def _shape(svg: bytes) -> float:
    match = _SIZE.search(svg)
    return float(match[2]) / float(match[1]) if match else 1.0


def _manifest(released: Released, files: Files) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "experiment": released.manifest["experiment"],
        "options": released.options,
        "code_version": released.manifest["code_version"],
        "software": released.study["software"],
        "release": {file["path"]: file["sha256"] for file in released.manifest["files"]},
        "files": file_manifest(files),
    }
