"""Figures as files: drawn on the server, so that no page needs a script or another host."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.comparison.deltas import PairTable, pair_table
from analysis.errors import NotEnoughData
from analysis.releases import reading
from analysis.releases.comparing import comparison_frames, comparisons_of
from analysis.releases.figure_sizes import WIDTHS, Sizes, figure_sizes, remember_size
from analysis.releases.forms import AgreementForm, ExcludeForm, RatingsForm
from analysis.releases.models import Comparison
from analysis.releases.plans import find_plan
from analysis.releases.study_evidence import study_file
from analysis.releases.views.pages import study_page, valid_or_default
from experiments.models import Experiment

Chart = Any  # an Altair chart
STRIP = 40
MODELS_DRAWN = 4
SECONDS = 600


@dataclass(frozen=True)
class Figure:
    """A figure as a template shows it."""

    url: str
    alt: str
    caption: str
    query: str = ""
    is_half: bool = False

    @property
    def sizes(self) -> Sizes:
        """The place to keep free for it, by width."""
        return figure_sizes(self.url, self.query)


@study_page
def figure(request: HttpRequest, study: Experiment, *, name: str, form: str) -> HttpResponseBase:
    """A figure of the study's own data, in any of five forms."""
    chosen = {"agreement": draw_agreement, "items": draw_items, "ratings": draw_ratings}
    if name not in analysis.figures.FIGURES:
        raise Http404("no such figure")
    drawn = chosen.get(name)
    if drawn is None:
        return _registered(request, study, name=name, form=form)

    def chart() -> Chart:
        try:
            return drawn(request, study)
        except NotEnoughData as error:
            return analysis.figures.statement_figure(
                analysis.figures.FIGURES[name].title, f"Nothing to draw: {error.message}"
            )

    return answer(request, chart, name=f"{study.slug}-{name}", form=form)


@study_page
def comparison_figure(
    request: HttpRequest, study: Experiment, *, pk: int, name: str, form: str
) -> HttpResponseBase:
    """A figure of a comparison."""
    found = comparisons_of(study).filter(pk=pk).exclude(report={}).first()
    if found is None:
        raise Http404("no such comparison")
    return answer(
        request,
        lambda: draw_comparison(found, name),
        name=f"{study.slug}-{pk}-{name}",
        form=form,
        key=f"figure-comparison-{pk}-{name}",
    )


def answer(
    request: HttpRequest, draw: Callable[[], Chart], *, name: str, form: str, key: str = ""
) -> HttpResponse:
    """The figure's file; what can never change is kept."""
    looks = _looks(request)
    theme, width = looks["mode"], looks["width"]
    if form not in analysis.figures.MEDIA_TYPES:
        raise Http404("no such form of figure")

    def make() -> bytes:
        return analysis.figures.export_figure(draw(), form, mode=theme, width=width)

    try:
        full = hashlib.sha256(f"{key}-{form}-{theme}-{width}".encode()).hexdigest()
        content = cache.get_or_set(full, make, SECONDS) if key else make()
    except NotEnoughData as error:
        raise Http404(str(error)) from error
    return _file(request, content, name=name, form=form)


def _registered(request: HttpRequest, study: Experiment, *, name: str, form: str) -> HttpResponse:
    """A figure of the registry; where it does not apply, the file says so in words."""
    if form not in analysis.figures.MEDIA_TYPES:
        raise Http404("no such form of figure")
    chosen = ExcludeForm(request.GET or None, experiment=study)
    exclude = chosen.exclude() if valid_or_default(chosen) else ""
    content = study_file(study, name, form, exclude=exclude, **_looks(request))
    return _file(request, content, name=f"{study.slug}-{name}", form=form)


def _file(request: HttpRequest, content: bytes, *, name: str, form: str) -> HttpResponse:
    if form == "svg":
        asked = request.GET.copy()
        width = "".join(asked.pop("width", [])[-1:])
        asked.pop("theme", None)
        remember_size(request.path.removesuffix(".svg"), asked.urlencode(), width=width, svg=content)
    response = HttpResponse(content, content_type=analysis.figures.MEDIA_TYPES[form])
    response["Cache-Control"] = "private, max-age=60"
    response["Content-Disposition"] = f'inline; filename="{name}.{form}"'
    return response


def _looks(request: HttpRequest) -> dict[str, Any]:
    theme = "dark" if request.GET.get("theme") == "dark" else "light"
    return {"mode": theme, "width": WIDTHS.get(request.GET.get("width", ""), WIDTHS[""])}


def draw_agreement(request: HttpRequest, study: Experiment) -> Chart:
    """Bars by paradigm."""
    choices, figures = agreement_choices(request, study), analysis.figures.agreement
    return figures.agreement_figure(
        figures.agreement_frame(reading.agreement(study, **choices)), note=_plan(study, choices)
    )


def draw_items(request: HttpRequest, study: Experiment) -> Chart:
    """The most contested items."""
    choices = agreement_choices(request, study)
    counted = reading.items(study, exclude=choices["exclude"], round_number=choices["round_number"])
    judged = counted[counted["share"].notna()]
    distance = (judged["share"] - 0.5).abs()
    shown = judged.loc[distance.sort_values(kind="stable").index[:STRIP]]
    note = f"The {STRIP} most contested of {len(judged)}." if len(judged) > STRIP else ""
    return analysis.figures.item_strip(shown, note=f"{note} {_plan(study, choices)}".strip())


def draw_ratings(request: HttpRequest, study: Experiment) -> Chart:
    """Sentence means by condition."""
    choices = ratings_choices(request, study)
    report = reading.ratings(study, **choices)
    frame = pd.DataFrame(report["items"], columns=["condition", "mean"]).astype({"mean": float})
    return analysis.figures.ratings.rating_figure(
        frame, scale=str(choices["transform"]), note=_plan(study, choices)
    )


def _plan(study: Experiment, choices: dict[str, Any]) -> str:
    """The plan and the round, for captions."""
    note = analysis.figures.Evidence(plan=find_plan(study, str(choices["exclude"]))).note
    number = choices.get("round_number")
    return note if number is None else f"{note} Round {number} only.".strip()


def draw_comparison(found: Comparison, name: str) -> Chart:
    """ADC by δ, Δ against Δ, or bars by paradigm."""
    from analysis.releases.depth_figures import DEPTH_FIGURES

    if name in DEPTH_FIGURES and found.report.get("depth"):
        return DEPTH_FIGURES[name](found)
    if name == "paradigms":
        return analysis.figures.paradigm_figure(analysis.figures.paradigm_frame(found.report))
    human, pairs, scores = comparison_frames(found)
    table = pair_table(human, pairs, scores, already_standardized=found.options["already_standardized"])
    signs = found.options["signs"]
    if name == "adc":
        return analysis.figures.adc_curve_figure(
            analysis.figures.curve_frame(table, signs=signs, ceiling=_ceiling(found)),
            n_pairs=int(table.labeled.sum()),
            signs=signs,
        )
    return _draw_deltas(found, table, name=name, signs=signs)


def agreement_choices(request: HttpRequest, study: Experiment) -> dict[str, Any]:
    """What the address asks of an agreement report; a wrong choice gives the default."""
    form = AgreementForm(request.GET or None, experiment=study)
    if not valid_or_default(form):
        return {"exclude": "", "rule": "", "ties": "strict", "round_number": None}
    chosen = form.cleaned_data
    return {
        "exclude": form.exclude(),
        "rule": chosen["rule"],
        "ties": chosen["ties"],
        "round_number": chosen["round"],
    }


def ratings_choices(request: HttpRequest, study: Experiment) -> dict[str, Any]:
    """What the address asks of a report of ratings."""
    form = RatingsForm(request.GET or None, experiment=study)
    if not valid_or_default(form):
        return {"exclude": "", "transform": "z", "ddof": 1}
    data = form.cleaned_data
    return {"exclude": form.exclude(), "transform": data["transform"], "ddof": data["ddof"]}


def study_figure(study: Experiment, name: str, *, alt_text: str, caption: str, query: str) -> Figure:
    """A figure of the study for a template."""
    url = reverse("study-figure", args=[study.slug, name, "svg"]).removesuffix(".svg")
    return Figure(url, alt_text, caption, query)


def comparison_figures(study: Experiment, found: Comparison) -> list[Figure]:
    """The figures of a comparison for a template."""
    if not found.report:
        return []
    models = [row["model"] for row in found.report["models"]]
    named = [
        ("adc", _adc_alt(found), "Share of pairs within δ, for every δ, beside the constant and people.")
    ]
    if found.report["models"] and found.report["models"][0]["by_paradigm"]:
        text = f"Share of pairs that {', '.join(models)} and people get right, paradigm by paradigm."
        named.append(("paradigms", text, "Pairs right by paradigm."))
    for number, model in enumerate(models[:MODELS_DRAWN]):
        text = (
            f"Differences of people against those of {model}, one point per pair, with the band of the ADC."
        )
        named.append((f"deltas-{number}", text, f"Δ people against Δ {model}."))
    address = reverse("study-comparison-figure", args=[study.slug, found.pk, "NAME", "svg"]).removesuffix(
        ".svg"
    )
    labelled = bool(found.report["labeled_pairs"])
    return [
        Figure(address.replace("NAME", name), text, caption, is_half=name.startswith("deltas-"))
        for name, text, caption in named
        if labelled or name == "paradigms"
    ]


def _adc_alt(found: Comparison) -> str:
    def said(name: str, adc: dict[str, float | None]) -> str:
        shares = [f"{value:.2f} at δ {key}" for key, value in adc.items() if value is not None]
        return f"{name} {', '.join(shares)}"

    parts = [said(row["model"], row["adc"]) for row in found.report["models"]]
    constant = said("one answer for every pair", found.report["baselines"]["constant"]["adc"])
    return f"Curves of the ADC: {'; '.join([*parts, constant])}."


def _ceiling(found: Comparison) -> dict[float, float] | None:
    ceiling = found.report["baselines"]["human_ceiling"]
    if not ceiling:
        return None
    known = {float(key): value for key, value in ceiling["adc"].items() if value is not None}
    return known or None


def _draw_deltas(found: Comparison, table: PairTable, *, name: str, signs: Any) -> Chart:
    number = name.removeprefix("deltas-")
    if not name.startswith("deltas-") or not number.isdecimal() or int(number) >= len(table.models):
        raise Http404("no such figure")
    model, delta = table.models[int(number)], sorted(found.options["deltas"])[0]
    return analysis.figures.delta_figure(
        analysis.figures.delta_frame(table, model, delta=delta, signs=signs),
        model=model,
        delta=delta,
        signs=signs,
    )
