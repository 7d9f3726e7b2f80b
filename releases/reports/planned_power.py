"""Power of a planned study: the values of the calculator, its report, and costs by number of participants."""

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

from analysis.power.money import format_money
from analysis.power.report import Price, prospective_report
from analysis.power.simulation import Noise
from config.version import code_version
from experiments.models import Experiment
from experiments.page_cache import cache
from releases.reports.power_forms import PlanPowerForm, price_fields

EFFECT = 0.5  # standard deviations of a participant's ratings
SIZES = (10, 20, 30, 40, 60)
# Simulations per design: fewer for large designs, so that a request takes about a second.
MAX_DRAWS, MIN_DRAWS, MAX_CELLS = 1_000, 200, 2_000_000
CACHE_SECONDS = 600


def default_values(study: Experiment) -> dict[str, Any]:
    """Initial values of the calculator, from the study's design."""
    items = study.materials.items if study.materials else None
    paradigms = items.values("paradigm").distinct().count() if items else 0
    design = getattr(study, "design", None)
    per_paradigm = max(1, min(40, round(items.count() / paradigms))) if items and paradigms else 8
    lists = min(design.n_lists if design else 2, per_paradigm)
    return {
        "task": study.task,
        "effect": EFFECT,
        "participants": " ".join(str(size) for size in SIZES),
        "items": str(per_paradigm),
        "lists": max(1, lists),
        **price_fields(study),
    }


def prospective_power(form: PlanPowerForm) -> dict[str, Any]:
    """The report of a valid form, cached by its arguments."""
    data = form.cleaned_data
    noise = Noise(
        item_effect=data.get("item_effect") or 0.0, participant_effect=data.get("participant_effect") or 0.0
    )
    cells = sum(data["participants"]) * sum(data["items"])
    report = partial(
        prospective_report,
        data["task"],
        data["effect"],
        participants=data["participants"],
        items=data["items"],
        lists=data["lists"],
        noise=noise,
        draws=int(min(MAX_DRAWS, max(MIN_DRAWS, MAX_CELLS / cells))),
        price=Price(**form.price()),
    )
    key = hashlib.sha256(repr((code_version(), report.args, sorted(report.keywords.items()))).encode())
    return cache.get_or_set(f"power-{key.hexdigest()}", report, CACHE_SECONDS) or {}


def plan_form(values: Mapping[str, str], study: Experiment) -> PlanPowerForm:
    """The values of a query, with defaults from the study's design."""
    data = {**default_values(study), **{name: value for name, value in values.items() if value != ""}}
    form = PlanPowerForm(data)
    form.is_valid()
    return form


def costs_by_size(report: dict[str, Any], currency: str) -> dict[int, str]:
    """The formatted cost of each number of participants; none where nothing is paid."""
    return {
        int(design["participants"]): format_money(design["cost_minor"], currency)
        for design in report["designs"]
        if design["cost_minor"]
    }
