"""Figures as files and on pages, drawn on the server so that no page needs a script or another host.

The size of every drawn figure is cached, so that pages reserve its space and do not shift when it loads.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.comparison.pairs import PairTable, pair_table
from analysis.errors import NotEnoughData
from experiments.models import Experiment
from experiments.page_cache import cache
from judgments.frames.data_source import file_stem
from releases.comparison.compare import comparison_frames, list_comparisons
from releases.gold.plans import find_plan
from releases.models import Comparison
from releases.reports.forms import (
    AgreementForm,
    EffectsForm,
    ExcludeForm,
    GroupsForm,
    MultiverseForm,
    ProgressForm,
    RatingsForm,
    SequentialForm,
    TimesForm,
)
from releases.reports.power_forms import PlanPowerForm
from releases.reports.study_figures import build_addresses, sentence_texts, study_evidence, study_file
from releases.views.base import explicit_query, form_choices, page, study_page, valid_or_default

# CSS pixels, as in the layouts of the pages.
WIDTHS = {"": 640, "wide": 880, "half": 408, "narrow": 310}
DEFAULT_HEIGHTS = {"wide": 400, "half": 420, "narrow": 420}  # medians of the demo's figures
SIZE_SECONDS = 7 * 24 * 3600
Sizes = dict[str, tuple[int, int]]


def figure_sizes(address: str, query: str = "") -> Sizes:
    """Width and height by layout: those of the last drawing, or defaults."""
    defaults = {width: (WIDTHS[width], height) for width, height in DEFAULT_HEIGHTS.items()}
    return {**defaults, **cache.get(_key(address, query), {})}


def remember_size(address: str, query: str, *, width: str, svg: bytes) -> None:
    """Cache the size of a drawn SVG."""
    key, size = _key(address, query), _size(svg)
    if width not in DEFAULT_HEIGHTS or size is None:
        return
    sizes = cache.get(key, {})
    if sizes.get(width) != size:
        cache.set(key, {**sizes, width: size}, SIZE_SECONDS)


def _key(address: str, query: str) -> str:
    return f"figure-size-{hashlib.sha256(f'{address}?{query}'.encode()).hexdigest()}"


def _size(svg: bytes) -> tuple[int, int] | None:
    opening = svg[: svg.find(b">", svg.find(b"<svg"))]
    sides = [re.search(rb'\s%s="([\d.]+)"' % side, opening) for side in (b"width", b"height")]
    if not all(sides):
        return None
    width, height = (round(float(side[1])) for side in sides if side)
    return width, height


Chart = Any  # an Altair chart
Addresses = Any  # analysis.figures.Addresses, which loads Altair
MAX_MODELS = 4
# Figures whose points name what they show and lead to its judgments.
ANSWERING = {"items", "sentences", "participants-agreement", "participant-times", "deltas"}
# Figures whose points name models and lead to a comparison, or to its part about these curves.
OF_MODELS = {"leaderboard", "adc", "curves", "recalibrated"}
# Title and question of each group of figures, in the order of its pages.
QUESTIONS = {
    "judgments": ("Judgments", "How acceptable are the sentences, and how reliable is that?"),
    "effects": ("Effects", "How large are the effects, and how many participants show them?"),
    "sample": ("Sample", "Who took part, and who is excluded?"),
    "participants": ("Participants", "How does each participant answer?"),
    "times": ("Times", "How long do answers take?"),
    "models": ("Models", "How close are models to people?"),
}
# Pages whose choices a figure follows; the others follow the exclusions alone.
FORMS: dict[str, type[ExcludeForm]] = {
    "agreement": AgreementForm,
    "items": AgreementForm,
    "progress": ProgressForm,
    "ratings": RatingsForm,
    "effect-sizes": EffectsForm,
    "five-analyses": EffectsForm,
    "condition-times": TimesForm,
    "specification-curve": MultiverseForm,
    "group-effects": GroupsForm,
    "item-functioning": GroupsForm,
    "sequential-bayes-factors": SequentialForm,
}
CACHE_SECONDS = 600  # figures of comparisons, which never change


@dataclass(frozen=True)
class Figure:
    """A figure as a template shows it."""

    url: str
    alt: str
    caption: str
    query: str = ""
    is_half: bool = False
    answers: bool = False
    opens: str = "judgments"

    @property
    def sizes(self) -> Sizes:
        """Space to reserve for it, by layout."""
        return figure_sizes(self.url, self.query)


@study_page
def figure(request: HttpRequest, study: Experiment, *, name: str, form: str) -> HttpResponseBase:
    """A figure of the study's own data, in any of five forms."""
    if name not in analysis.figures.FIGURES or form not in analysis.figures.MEDIA_TYPES:
        raise Http404("no such figure")
    content = study_file(
        study,
        name,
        form,
        choices=_choices(request, study, name),
        has_links=is_on_page(request),
        **_appearance(request),
    )
    return _file(request, content, name=f"{file_stem(study)}-{name}", form=form)


def _choices(request: HttpRequest, study: Experiment, name: str) -> dict[str, Any]:
    """The choices of the page that shows the figure."""
    if name == "power-planned":
        planned = {key: value for key, value in request.GET.items() if key in PlanPowerForm.base_fields}
        return {"exclude": "", "planned": planned}
    return form_choices(request, study, FORMS.get(name, ExcludeForm))[1]


def is_on_page(request: HttpRequest) -> bool:
    """Whether the figure is drawn in the width of a page; downloaded files have no links to this site."""
    return "width" in request.GET


@study_page
def comparison_figure(
    request: HttpRequest, study: Experiment, *, pk: int, name: str, form: str
) -> HttpResponseBase:
    """A figure of a comparison."""
    comparison = list_comparisons(study).filter(pk=pk).exclude(report={}).first()
    if comparison is None:
        raise Http404("no such comparison")
    addresses = build_addresses(study) if is_on_page(request) else analysis.figures.Addresses()
    return figure_response(
        request,
        lambda: draw_comparison(comparison, name, addresses=addresses),
        name=f"{study.slug}-{pk}-{name}",
        form=form,
        key=f"figure-comparison-{pk}-{name}-{bool(addresses.item)}",
    )


def figure_response(
    request: HttpRequest, draw: Callable[[], Chart], *, name: str, form: str, key: str = ""
) -> HttpResponse:
    """The figure's file, cached under ``key`` if it can never change."""
    appearance = _appearance(request)
    theme, width = appearance["mode"], appearance["width"]
    if form not in analysis.figures.MEDIA_TYPES:
        raise Http404("no such figure format")

    def make() -> bytes:
        file: bytes = analysis.figures.export_figure(draw(), form, mode=theme, width=width)
        return file

    try:
        cache_key = hashlib.sha256(f"{key}-{form}-{theme}-{width}".encode()).hexdigest()
        content: bytes = make() if not key else cache.get_or_set(cache_key, make, CACHE_SECONDS) or make()
    except NotEnoughData as error:
        raise Http404(str(error)) from error
    return _file(request, content, name=name, form=form)


def _file(request: HttpRequest, content: bytes, *, name: str, form: str) -> HttpResponse:
    if form == "svg":
        query = request.GET.copy()
        width = "".join(query.pop("width", [])[-1:])
        query.pop("theme", None)
        query.pop("at", None)  # js/live.js asks for a new drawing
        remember_size(request.path.removesuffix(".svg"), query.urlencode(), width=width, svg=content)
    response = HttpResponse(content, content_type=analysis.figures.MEDIA_TYPES[form])
    response["Cache-Control"] = "private, max-age=60"
    response["Content-Disposition"] = f'inline; filename="{name}.{form}"'
    return response


def _appearance(request: HttpRequest) -> dict[str, Any]:
    theme = "dark" if request.GET.get("theme") == "dark" else "light"
    return {"mode": theme, "width": WIDTHS.get(request.GET.get("width", ""), WIDTHS[""])}


def draw_comparison(comparison: Comparison, name: str, *, addresses: Addresses = None) -> Chart:
    """ADC by δ, Δ against Δ, or bars by paradigm."""
    from releases.comparison.depth_figures import DEPTH_CURVES, DEPTH_FIGURES

    start = addresses.comparison if addresses else ""
    own_address = f"{start}{comparison.pk}/" if start else ""
    if comparison.report.get("depth"):
        if name in DEPTH_FIGURES:
            return DEPTH_FIGURES[name](comparison)
        if name in DEPTH_CURVES:
            return DEPTH_CURVES[name](comparison, own_address)
    if name == "paradigms":
        return analysis.figures.paradigm_figure(analysis.figures.paradigm_frame(comparison.report))
    human, pairs, scores = comparison_frames(comparison)
    table = pair_table(human, pairs, scores, already_standardized=comparison.options["already_standardized"])
    signs = comparison.options["signs"]
    if name == "adc":
        return analysis.figures.adc_curve_figure(
            analysis.figures.curve_frame(table, signs=signs, ceiling=_ceiling(comparison)),
            n_pairs=int(table.is_labeled.sum()),
            signs=signs,
            opens=f"{own_address}depth/curves/" if own_address else "",
        )
    return _draw_deltas(comparison, table, name=name, signs=signs, addresses=addresses)


def study_figure(study: Experiment, name: str, *, alt_text: str, caption: str, query: str) -> Figure:
    """A figure of the study for a template."""
    url = reverse("study-figure", args=[study.slug, name, "svg"]).removesuffix(".svg")
    return Figure(url, alt_text, caption, query, **answering(name))


def answering(name: str) -> dict[str, Any]:
    """Whether the points of a figure answer, and what they open."""
    if name in OF_MODELS:
        return {"answers": True, "opens": "comparison"}
    return {"answers": name in ANSWERING or name.startswith("deltas-")}


def registered_figure(study: Experiment, name: str, *, query: str = "", caption: str = "") -> Figure:
    """A figure of the registry with its own description."""
    drawing = analysis.figures.FIGURES[name]
    text = f"{drawing.title}. {drawing.shows}."
    return study_figure(study, name, alt_text=text, caption=caption or f"{drawing.shows}.", query=query)


def comparison_figures(study: Experiment, comparison: Comparison) -> list[Figure]:
    """The figures of a comparison for a template."""
    if not comparison.report:
        return []
    rows = comparison.report["models"]
    models = [row["model"] for row in rows]
    best = max(range(len(rows)), key=lambda place: rows[place]["pearson_r"] or -2.0, default=0)
    places = [best, *(place for place in range(len(rows)) if place != best)][:MAX_MODELS]
    deltas = [
        (
            f"deltas-{place}",
            f"Differences of participants against those of {models[place]}, one point per pair.",
            f"Δ participants against Δ {models[place]}.",
        )
        for place in places
    ]
    curves = (
        "adc",
        _adc_alt(comparison),
        "Share of pairs within δ, with the constant baseline and the ceiling.",
    )
    entries = [*deltas[:1], curves]
    if rows and rows[0]["by_paradigm"]:
        text = f"Share of pairs that {', '.join(models)} and participants get right, by paradigm."
        entries.append(("paradigms", text, "Pairs right by paradigm."))
    entries += deltas[1:]
    address = reverse(
        "study-comparison-figure", args=[study.slug, comparison.pk, "NAME", "svg"]
    ).removesuffix(".svg")
    labelled = bool(comparison.report["labeled_pairs"])
    return [
        Figure(
            address.replace("NAME", name),
            text,
            caption,
            is_half=name != "paradigms",
            **answering(name),
        )
        for name, text, caption in entries
        if labelled or name == "paradigms"
    ]


def _adc_alt(comparison: Comparison) -> str:
    def summary(name: str, adc: dict[str, float | None]) -> str:
        shares = [f"{value:.2f} at δ {key}" for key, value in adc.items() if value is not None]
        return f"{name} {', '.join(shares)}"

    parts = [summary(row["model"], row["adc"]) for row in comparison.report["models"]]
    constant = summary("one answer for every pair", comparison.report["baselines"]["constant"]["adc"])
    return f"Curves of the ADC: {'; '.join([*parts, constant])}."


def _ceiling(comparison: Comparison) -> dict[float, float] | None:
    ceiling = comparison.report["baselines"]["human_ceiling"]
    if not ceiling:
        return None
    values = {float(key): value for key, value in ceiling["adc"].items() if value is not None}
    return values or None


def _draw_deltas(
    comparison: Comparison, table: PairTable, *, name: str, signs: Any, addresses: Addresses
) -> Chart:
    number = name.removeprefix("deltas-")
    if not name.startswith("deltas-") or not number.isdecimal() or int(number) >= len(table.models):
        raise Http404("no such figure")
    model, delta = table.models[int(number)], sorted(comparison.options["deltas"])[0]
    sentences = sentence_texts(comparison.release)
    return analysis.figures.delta_figure(
        analysis.figures.delta_frame(table, model, delta=delta, signs=signs, sentences=sentences),
        model=model,
        delta=delta,
        signs=signs,
        addresses=addresses or analysis.figures.Addresses(),
    )


@study_page
def figures(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """All figures under a plan in a list with their files, by the question that they answer."""
    return _figures_page(request, study, "")


@study_page
def figure_group(request: HttpRequest, study: Experiment, *, group: str) -> HttpResponseBase:
    """The figures that answer one question."""
    if group not in QUESTIONS:
        raise Http404("no such group of figures")
    return _figures_page(request, study, group)


def _figures_page(request: HttpRequest, study: Experiment, group: str) -> HttpResponseBase:
    form = ExcludeForm(request.GET or None, experiment=study)
    valid = valid_or_default(form)
    exclude = form.exclude()
    evidence = study_evidence(study, exclude=exclude)
    drawable, inapplicable = analysis.figures.applicable(evidence)
    query = explicit_query(request, study) if valid else ""
    groups = [
        {
            "name": name,
            "title": title,
            "question": question,
            "drawings": [
                {"figure": registered_figure(study, drawing.name, query=query), "drawing": drawing}
                for drawing in drawable
                if analysis.figures.figure_group(drawing) == name
            ],
        }
        for name, (title, question) in QUESTIONS.items()
    ]
    if drawable and drawable[0].name == "interaction":  # the first question of a factorial study
        groups.sort(key=lambda entry: entry["name"] != analysis.figures.GROUPS["interaction"])
    return page(
        request,
        study,
        "figures",
        form=form,
        plan=find_plan(study, exclude),
        groups=[entry for entry in groups if entry["drawings"]],
        chosen=next((entry for entry in groups if entry["name"] == group), None),
        n_drawable=len(drawable),
        others=inapplicable,
        query=query,
        status=200 if valid else 400,
    )
