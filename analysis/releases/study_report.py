"""The report of a study and its replication package, as files: the same bytes for the same data and code.

Every number is computed from the files of a gold release, as ``analyse.py`` of the package computes it
again; figures are drawn from the study's judgments under the same plan.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import typst
from django.template.loader import render_to_string

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Plan
from analysis.gold.writers import json_bytes
from analysis.releases.build import build_release, renamed
from analysis.releases.description import listed
from analysis.releases.options import Options
from analysis.releases.plans import find_plan, judgments_for
from analysis.releases.replication import package
from analysis.releases.storage import MANIFEST, Files, checksum
from analysis.releases.study_evidence import study_evidence
from analysis.releases.study_facts import study_facts
from analysis.report.content import Figure
from analysis.report.numbers import numbers_bytes, report_numbers
from analysis.report.released import REMOVED, STUDY, Released, read_released, removed_bytes
from analysis.report.sections import FIGURES, Report, report_of
from analysis.report.typeset import PAGE_WIDTH, TALLEST, needs_fonts, typst_source
from experiments.models import Experiment

FORMAT = "obelus-report/1"
HTML, PDF, NUMBERS, PACKAGE = "report.html", "report.pdf", "numbers.json", "replication.zip"
FILES = {
    HTML: "the report as one page, figures inside",
    PDF: "the report on paper",
    NUMBERS: "every number of the report",
    PACKAGE: "data, program and expected numbers: shows that the numbers follow from the release",
}
WIDE, NARROW, MOST_WIDE = 720, 330, 1600
Progress = Callable[[int, int, str], None]
_SIZE = re.compile(rb'<svg[^>]* width="([0-9.]+)" height="([0-9.]+)"')
_IDS = re.compile(r'(id="|url\(#|href="#)')


@dataclass(frozen=True)
class Made:
    """The files of a report, and its numbers."""

    files: dict[str, bytes]
    numbers: dict[str, Any]

    @property
    def sha256(self) -> str:
        """Of the manifest, which holds the checksum of every other file."""
        return checksum(self.files[MANIFEST])


def make_report(
    study: Experiment, options: Options, *, has_pdf: bool = True, progress: Progress | None = None
) -> Made:
    """Every file of the report."""
    say = progress or (lambda done, total, message: None)
    steps = 10
    say(0, steps, "building the release")
    release = dict(build_release(study, options).files)
    facts = study_facts(study, options.round_number)
    data = {**release, REMOVED: _verdicts(study, options), STUDY: json_bytes(facts)}
    released = read_released(data)
    numbers = report_numbers(released, progress=lambda done, _, name: say(1 + done, steps, name))
    say(7, steps, "drawing")
    figures, charts = _charts(study, options, numbers)
    report = report_of(released, numbers, figures)
    files = {HTML: html_report(report, charts), NUMBERS: numbers_bytes(numbers)}
    say(8, steps, "setting the pages")
    if has_pdf:
        files[PDF] = pdf_report(report, charts)
    files[PACKAGE] = package(f"{study.slug}-replication", data, numbers_bytes(numbers), reports=dict(files))
    say(9, steps, "storing")
    return Made({**files, MANIFEST: json_bytes(_manifest(released, files))}, numbers)


def html_report(report: Report, charts: dict[str, Any]) -> bytes:
    """One page that needs nothing else: style and figures stand inside."""
    theme = analysis.figures.theme
    drawn = {
        name: {
            "wide": _inline(analysis.figures.export_figure(chart, "svg", width=WIDE), f"{name}-w"),
            "narrow": _inline(analysis.figures.export_figure(chart, "svg", width=NARROW), f"{name}-n"),
            "keeps": theme.keeps_colours(chart),
        }
        for name, chart in charts.items()
    }
    papers = [(one["light"], one["dark"]) for one in (theme.INK, theme.QUIET, theme.LINE)]
    marks = list(zip(theme.MODELS["light"], theme.MODELS["dark"], strict=True))
    context = {"report": report, "drawn": drawn, "papers": papers, "marks": marks}
    return render_to_string("releases/report/report.html", context).encode()


def pdf_report(report: Report, charts: dict[str, Any]) -> bytes:
    """The report on A4; fonts of the machine are asked only for letters that the built-in ones lack."""
    widths = {name: _width(chart) for name, chart in charts.items()}
    files = {
        f"{name}.pdf": analysis.figures.export_figure(one, "pdf", width=widths[name])
        for name, one in charts.items()
    }
    heights = {
        name: _shape(analysis.figures.export_figure(one, "svg", width=widths[name]))
        for name, one in charts.items()
    }
    files["main.typ"] = typst_source(report, heights).encode()
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        is_plain = not needs_fonts(report.text)
        return bytes(typst.compile(Path(folder, "main.typ"), root=folder, ignore_system_fonts=is_plain))


def _verdicts(study: Experiment, options: Options) -> bytes:
    """Which step removes which row, by the names of the release."""
    plan = find_plan(study, options.exclude)
    judgments = judgments_for(study, plan, round_number=options.round_number)
    names = dict(
        zip(
            judgments["trial"].astype(str),
            renamed(judgments, apply_plan(judgments, plan))["trial"],
            strict=True,
        )
    )
    found = []
    for step in plan.steps:
        mask = apply_plan(judgments, Plan(step.name, [step])).mask
        trials = mask["trial"].astype(str).map(names).drop_duplicates()
        found.append(pd.DataFrame({"trial": trials.to_numpy(), "step": step.name}))
    if not found:
        return removed_bytes(pd.DataFrame({"trial": [], "step": []}))
    return removed_bytes(pd.concat(found, ignore_index=True))


def _charts(
    study: Experiment, options: Options, numbers: dict[str, Any]
) -> tuple[list[Figure], dict[str, Any]]:
    """The figures that apply, in the report's order; the five analyses come from the numbers."""
    evidence = study_evidence(study, exclude=options.exclude, round_number=options.round_number)
    if "refused" not in numbers["effects"]:
        evidence = replace(evidence, by=numbers["by"], effects=numbers["effects"])
    drawable = {one.name: one for one in analysis.figures.applicable(evidence, about="study")[0]}
    wanted = [drawable[name] for name in FIGURES if name in drawable]
    figures = [Figure(one.name, one.title, f"{one.title}. {one.shows}.") for one in wanted]
    return figures, {one.name: analysis.figures.draw(one.name, evidence) for one in wanted}


def _inline(svg: bytes, prefix: str) -> str:
    """An SVG that may stand beside others in one page: its ids are its own."""
    text = svg.decode().replace("<svg ", '<svg aria-hidden="true" ', 1)  # what holds it has the words
    return _IDS.sub(lambda found: f"{found[1]}{prefix}-", text)


def _width(chart: Any) -> int:
    """The width at which a figure fills a page: one of many rows is drawn wider, so that it may shrink."""
    shape = _shape(analysis.figures.export_figure(chart, "svg", width=WIDE))
    return min(MOST_WIDE, max(WIDE, round(WIDE * shape * PAGE_WIDTH / TALLEST)))


def _shape(svg: bytes) -> float:
    found = _SIZE.search(svg)
    return float(found[2]) / float(found[1]) if found else 1.0


def _manifest(released: Released, files: Files) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "experiment": released.manifest["experiment"],
        "options": released.options,
        "code_version": released.manifest["code_version"],
        "software": released.study["software"],
        "release": {file["path"]: file["sha256"] for file in released.manifest["files"]},
        "files": listed(files),
    }
