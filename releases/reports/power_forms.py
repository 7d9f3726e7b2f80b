"""Forms of the power page, and costs by number of participants."""

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

from django import forms

from analysis.choices import BY, POWER_MODELS, POWER_SIZES
from analysis.power.money import format_money, minor_digits
from analysis.power.report import Price, prospective_report
from analysis.power.simulation import Noise
from config.version import code_version
from experiments.models import Experiment
from experiments.page_cache import cache
from experiments.pages.forms import PriceForm
from releases.reports.forms import ReportForm

MAX_SIZE = 10_000
MAX_SIZES = 15  # each size of a study is simulated
# Percent of the reward that a platform charges by default; the form's field changes it.
FEES = {"direct": 0.0, "prolific": 33.3, "mturk": 20.0}
OTHER_FEE = 0.0
EFFECT = 0.5  # standard deviations of a participant's ratings
PLANNED_SIZES = (10, 20, 30, 40, 60)
# Simulations per design: fewer for large designs, so that a request takes about a second.
MAX_DRAWS, MIN_DRAWS, MAX_CELLS = 1_000, 200, 2_000_000
CACHE_SECONDS = 600
CHOICES = ("test", "analysis", "rule", "conditions", "correlation", "epsilon")


class NumbersField(forms.CharField):
    """Whole numbers, separated by spaces or commas."""

    def __init__(self, *, least: int, most: int = MAX_SIZE, **kwargs: Any) -> None:
        super().__init__(max_length=120, **kwargs)
        self.least, self.most = least, most

    def clean(self, value: Any) -> list[int]:
        """Parse, sort and deduplicate the numbers."""
        parts = super().clean(value).replace(",", " ").split()
        try:
            numbers = sorted({int(part) for part in parts})
        except ValueError as error:
            raise forms.ValidationError("Write whole numbers, for example 10 20 40.") from error
        if len(numbers) > MAX_SIZES or any(not self.least <= number <= self.most for number in numbers):
            raise forms.ValidationError(
                f"At most {MAX_SIZES} numbers, each from {self.least} to {self.most:,}."
            )
        return numbers


class PlanPowerForm(PriceForm):
    """A planned study."""

    field_order = (
        *("task", "test", "analysis", "effect", "participants", "items", "lists"),
        *("item_effect", "participant_effect", "rule", "reward", "currency", "fee"),
    )

    task = forms.ChoiceField(choices=[(name, name.replace("_", " ")) for name in POWER_MODELS])
    test = forms.ChoiceField(
        choices=[
            ("t", "two conditions"),
            ("interaction", "2×2 interaction"),
            ("inclusion", "inclusion by a rule"),
            ("anova", "several within participants, F"),
            ("anova_between", "several between participants, F"),
        ]
    )
    analysis = forms.ChoiceField(
        choices=[
            ("mixed", "over participants and items (mixed model)"),
            ("participants", "over participants, these items only"),
        ],
        help_text="Of two conditions. Pages and reports lead with the mixed model.",
    )
    effect = forms.FloatField(
        min_value=0,
        max_value=10,
        help_text="Acceptable minus unacceptable, in SDs of a participant's ratings. Published: .15 to 2. "
        "Interaction: difference of differences. F: Cohen's f.",
    )
    participants = NumbersField(least=2, most=2_000)
    items = NumbersField(least=1, most=200, help_text="Lexicalizations of the contrast.")
    lists = forms.IntegerField(min_value=1, max_value=200, help_text="Of the Latin square.")
    item_effect = forms.FloatField(
        required=False,
        min_value=0,
        max_value=5,
        label="Effect's SD between items",
        help_text="Empty: as published, .3; of interactions .45.",
    )
    participant_effect = forms.FloatField(
        required=False,
        min_value=0,
        max_value=5,
        label="Effect's SD between participants",
        help_text="Empty: as published, .35; of interactions .4, of choices .2.",
    )
    rule = forms.CharField(max_length=20, help_text="Of inclusion: blimp, climp, M/N or a share.")
    conditions = forms.IntegerField(min_value=2, max_value=100, help_text="Of F.")
    correlation = forms.FloatField(min_value=-0.99, max_value=0.99, help_text="Among conditions, of F.")
    epsilon = forms.FloatField(min_value=0.01, max_value=1, help_text="Sphericity, of F; 1: it holds.")


class PilotForm(ReportForm, PriceForm):
    """The study as a pilot of the next one."""

    field_order = ("plan", "by", "criterion", "participants", "reward", "currency", "fee", "steps")
    defaults = {"by": "phenomenon", "criterion": "t"}

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="Contrasts by")
    criterion = forms.ChoiceField(
        choices=[("t", "p < .05"), ("bayes", "Bayes factor > 3")], required=False, label="Detection criterion"
    )
    participants = NumbersField(least=2, most=2_000, required=False)

    def choices(self) -> dict[str, Any]:
        """The choices with sizes and price."""
        sizes = getattr(self, "cleaned_data", {}).get("participants") or list(POWER_SIZES)
        return super().choices() | {"participants": sizes} | self.price()


def price_fields(study: Experiment) -> dict[str, Any]:
    """Initial values of reward, currency and fee, from the newest paid campaign."""
    campaign = study.campaigns.exclude(reward_minor=0).order_by("-created_at", "-pk").first()
    if campaign is None:
        return {"reward": "", "currency": "GBP", "fee": OTHER_FEE}
    amount = format_money(campaign.reward_minor, campaign.currency).split()[0]
    return {
        "reward": amount,
        "currency": campaign.currency,
        "fee": FEES.get(campaign.recruiter, OTHER_FEE),
    }


def participant_price(study: Experiment) -> tuple[Price, str]:
    """The price of one participant and its currency."""
    fields = price_fields(study)
    campaign = study.campaigns.exclude(reward_minor=0).order_by("-created_at", "-pk").first()
    reward = campaign.reward_minor if campaign else 0
    return Price(reward, fields["fee"] / 100), fields["currency"]


def add_costs(rows: list[dict[str, Any]], currency: str) -> list[dict[str, Any]]:
    """Rows with their formatted cost; empty where nothing is paid."""
    return [
        {**row, "cost": format_money(row["cost_minor"], currency) if row["cost_minor"] else ""}
        for row in rows
    ]


def per_hour(reward_minor: int, minutes: int, currency: str) -> str:
    """The formatted pay of an hour; empty without pay."""
    if not reward_minor or not minutes:
        return ""
    hourly = round(reward_minor * 60 / minutes)
    return format_money(hourly, currency) if minor_digits(currency) or hourly else ""


def default_values(study: Experiment) -> dict[str, Any]:
    """Initial values of the calculator, from the study's design."""
    items = study.materials.items if study.materials else None
    paradigms = items.values("paradigm").distinct().count() if items else 0
    design = getattr(study, "design", None)
    per_paradigm = max(1, min(40, round(items.count() / paradigms))) if items and paradigms else 8
    lists = min(design.n_lists if design else 2, per_paradigm)
    return {
        "task": study.task,
        "test": "t",
        "analysis": "mixed" if per_paradigm > 1 else "participants",
        "rule": "blimp",
        "conditions": 3,
        "correlation": 0.5,
        "epsilon": 1,
        "effect": EFFECT,
        "participants": " ".join(str(size) for size in PLANNED_SIZES),
        "items": str(per_paradigm),
        "lists": max(1, lists),
        **price_fields(study),
    }


def prospective_power(form: PlanPowerForm) -> dict[str, Any]:
    """The report of a valid form, cached by its arguments."""
    data = form.cleaned_data
    noise = Noise(item_effect=data.get("item_effect"), participant_effect=data.get("participant_effect"))
    is_drawn = data["analysis"] == "mixed" and data["test"] != "inclusion"  # mean squares, whatever the size
    cells = sum(data["participants"]) * sum(data["items"])
    report = partial(
        prospective_report,
        data["task"],
        data["effect"],
        participants=data["participants"],
        items=data["items"],
        lists=data["lists"],
        noise=noise,
        **{name: data[name] for name in CHOICES},
        draws=None if is_drawn else int(min(MAX_DRAWS, max(MIN_DRAWS, MAX_CELLS / cells))),
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
