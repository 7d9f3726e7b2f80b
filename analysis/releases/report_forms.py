"""Forms of the results pages: what reliability, effects, ordinal models and power depend on."""

from typing import Any

from django import forms

from analysis.effects.power_report import MODELS, SIZES
from analysis.effects.report import BY
from analysis.errors import BadInput
from analysis.releases.forms import ExcludeForm
from experiments.money import minor_units

TRANSFORMS = [
    ("z", "z by participant"),
    ("z-log", "z of the logarithm"),
    ("robust-z", "robust z (median, MAD)"),
    ("rank-normal", "normal ranks"),
    ("raw", "raw values"),
]
LARGEST = 10_000


class ReportForm(ExcludeForm):
    """Exclusions and the choices of one report; every choice has a default."""

    defaults: dict[str, Any] = {}

    def choices(self) -> dict[str, Any]:
        """The choices as a report takes them; a wrong one gives the default."""
        data = getattr(self, "cleaned_data", {})
        given = {name: data.get(name) for name in self.defaults}
        return {
            "exclude": self.exclude(),
            **{name: self.defaults[name] if value in ("", None) else value for name, value in given.items()},
        }


class ReliabilityForm(ReportForm):
    """Coding of choices and transform of ratings."""

    field_order = ("plan", "coding", "transform", "steps")
    defaults = {"coding": "label_blind", "transform": "z"}

    coding = forms.ChoiceField(
        choices=[("label_blind", "blind to the label"), ("expected", "by expected label")], required=False
    )
    transform = forms.ChoiceField(choices=TRANSFORMS, required=False)


class EffectsForm(ReportForm):
    """What a contrast is, the scale, the random structure and the design."""

    field_order = ("plan", "by", "transform", "slopes", "population", "factorial", "steps")
    defaults = {"by": "phenomenon", "transform": "z", "slopes": "", "population": None, "factorial": ""}

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="A contrast is a")
    transform = forms.ChoiceField(choices=TRANSFORMS, required=False)
    slopes = forms.ChoiceField(
        choices=[("", "none"), ("participant", "by participant"), ("item", "by item"),
                 ("participant,item", "by both")],
        required=False,
        label="Random slopes",
    )  # fmt: skip
    population = forms.IntegerField(
        required=False, min_value=2, max_value=10**7, label="Sampled from", help_text="Published contrasts."
    )
    factorial = forms.CharField(
        required=False,
        max_length=300,
        label="2×2 conditions",
        help_text="Plain–plain, marked–plain, plain–marked, marked–marked, by commas. Empty: from names.",
    )


class OrdinalForm(ReportForm):
    """What a contrast is."""

    field_order = ("plan", "by", "steps")
    defaults = {"by": "phenomenon"}

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="A contrast is a")


class NumbersField(forms.CharField):
    """Whole numbers apart by spaces or commas."""

    def __init__(self, *, least: int, most: int = LARGEST, **kwargs: Any) -> None:
        super().__init__(max_length=120, **kwargs)
        self.least, self.most = least, most

    def clean(self, value: Any) -> list[int]:
        """At most fifteen of them."""
        words = super().clean(value).replace(",", " ").split()
        try:
            numbers = sorted({int(word) for word in words})
        except ValueError as error:
            raise forms.ValidationError("Write whole numbers, for example 10 20 40.") from error
        if len(numbers) > 15 or any(not self.least <= number <= self.most for number in numbers):
            raise forms.ValidationError(f"At most 15 numbers, each from {self.least} to {self.most:,}.")
        return numbers


class PriceForm(forms.Form):
    """What one participant costs."""

    reward = forms.CharField(required=False, max_length=12, label="Reward each", help_text="Such as 1.50.")
    currency = forms.CharField(required=False, max_length=3, min_length=3)
    fee = forms.FloatField(
        required=False,
        min_value=0,
        max_value=200,
        label="Fee, %",
        help_text="Of the reward, to the platform.",
    )

    def clean_currency(self) -> str:
        """In capitals."""
        return self.cleaned_data["currency"].upper()

    def clean(self) -> dict[str, Any]:
        """The reward in minor units; none costs nothing."""
        data = super().clean() or self.cleaned_data
        try:
            given = data.get("reward")
            data["reward_minor"] = minor_units(given, data.get("currency") or "GBP") if given else 0
        except BadInput as error:
            field = "currency" if error.column == "currency" else "reward"
            self.add_error(field, str(error))
        return data

    def price(self) -> dict[str, Any]:
        """As the reports take it."""
        data = getattr(self, "cleaned_data", {})
        return {"reward_minor": data.get("reward_minor") or 0, "fee": (data.get("fee") or 0) / 100}


class PlanPowerForm(PriceForm):
    """A planned study."""

    field_order = ("task", "effect", "participants", "items", "lists", "reward", "currency", "fee")

    task = forms.ChoiceField(choices=[(name, name.replace("_", " ")) for name in MODELS])
    effect = forms.FloatField(
        min_value=0,
        max_value=10,
        help_text="Acceptable less unacceptable, in SDs of a person's ratings. Published: .15 to 2.",
    )
    participants = NumbersField(least=2, most=2_000)
    items = NumbersField(least=1, most=200, help_text="Lexicalizations of the contrast.")
    lists = forms.IntegerField(min_value=1, max_value=200, help_text="Of the Latin square.")
    item_effect = forms.FloatField(
        required=False, min_value=0, max_value=5, label="Effect's SD between items"
    )
    participant_effect = forms.FloatField(
        required=False, min_value=0, max_value=5, label="Effect's SD between people"
    )


class PilotForm(ReportForm, PriceForm):
    """This study as a pilot of the next."""

    field_order = ("plan", "by", "criterion", "participants", "reward", "currency", "fee", "steps")
    defaults = {"by": "phenomenon", "criterion": "t"}

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="A contrast is a")
    criterion = forms.ChoiceField(
        choices=[("t", "p < .05"), ("bayes", "Bayes factor > 3")], required=False, label="A detection is"
    )
    participants = NumbersField(least=2, most=2_000, required=False)

    def choices(self) -> dict[str, Any]:
        """With sizes and price."""
        sizes = getattr(self, "cleaned_data", {}).get("participants") or list(SIZES)
        return super().choices() | {"participants": sizes} | self.price()
