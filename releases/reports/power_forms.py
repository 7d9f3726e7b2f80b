"""Forms of the power page, and what participants cost."""

from typing import Any

from django import forms

from analysis.effects.report import BY
from analysis.power.money import format_money, minor_digits
from analysis.power.report import MODELS, SIZES, Price
from experiments.models import Experiment
from experiments.pages.forms import PriceForm
from releases.reports.forms import ReportForm

MAX_SIZE = 10_000
MAX_SIZES = 15  # each size of a study is simulated


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

    field_order = ("task", "effect", "participants", "items", "lists", "reward", "currency", "fee")

    task = forms.ChoiceField(choices=[(name, name.replace("_", " ")) for name in MODELS])
    effect = forms.FloatField(
        min_value=0,
        max_value=10,
        help_text="Acceptable minus unacceptable, in SDs of a participant's ratings. Published: .15 to 2.",
    )
    participants = NumbersField(least=2, most=2_000)
    items = NumbersField(least=1, most=200, help_text="Lexicalizations of the contrast.")
    lists = forms.IntegerField(min_value=1, max_value=200, help_text="Of the Latin square.")
    item_effect = forms.FloatField(
        required=False, min_value=0, max_value=5, label="Effect's SD between items"
    )
    participant_effect = forms.FloatField(
        required=False, min_value=0, max_value=5, label="Effect's SD between participants"
    )


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
        sizes = getattr(self, "cleaned_data", {}).get("participants") or list(SIZES)
        return super().choices() | {"participants": sizes} | self.price()


# Percent of the reward that a platform charges by default; the form's field changes it.
FEES = {"direct": 0.0, "prolific": 33.3, "mturk": 20.0}
OTHER_FEE = 0.0


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


def price_of(study: Experiment) -> tuple[Price, str]:
    """The price of one participant and its currency."""
    fields = price_fields(study)
    campaign = study.campaigns.exclude(reward_minor=0).order_by("-created_at", "-pk").first()
    reward = campaign.reward_minor if campaign else 0
    return Price(reward, fields["fee"] / 100), fields["currency"]


def costed(rows: list[dict[str, Any]], currency: str) -> list[dict[str, Any]]:
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
