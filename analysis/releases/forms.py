"""Forms of the concluding pages: what to exclude, by which rule, and what to build."""

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analysis.agreement.inclusion import parse_rule
from analysis.agreement.majority import TIES
from analysis.agreement.outlook import MORE
from analysis.errors import BadInput
from analysis.exclusions.criteria import CRITERIA, SIGNAL_PREFIX
from analysis.quality.report import SIGNALS
from analysis.releases.plans import stored_names
from analysis.releases.progress import RULE
from experiments.models import Experiment
from experiments.rounds import listed_rounds

STEP_WORDS = {
    "rejected": "rejected on the platform",
    "catch_failed": "failed a catch trial",
    "incomplete": "did not finish",
    "not_native": "not a native speaker",
    "flagged": "flagged by hand",
    "too_few": "too few answers",
    **{f"{SIGNAL_PREFIX}{name}": f"signal: {signal.label}" for name, signal in SIGNALS.items()},
}
RULE_HELP = "blimp (4 of 5 by majority), climp (mean of .85), M/N such as 3/5, or a share such as 0.8."
RULES = ("blimp", "climp", "4/5", "0.85")
MOST_MORE = 100


def step_choices() -> list[tuple[str, str]]:
    """Every built-in step in words."""
    return [(name, STEP_WORDS.get(name, name.replace("_", " "))) for name in CRITERIA]


class ExcludeForm(forms.Form):
    """Which judgments to leave out: a stored plan, or steps ticked here."""

    plan = forms.ChoiceField(required=False, label="Plan")
    steps = forms.MultipleChoiceField(
        choices=step_choices, required=False, label="or these steps", widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["steps"].is_folded = True
        self.fields["plan"].choices = [("", "none"), *((name, name) for name in stored_names(experiment))]

    def exclude(self) -> str:
        """The choice as ``--exclude`` would say it; a plan goes before steps."""
        data = getattr(self, "cleaned_data", {})
        return data.get("plan") or ",".join(data.get("steps") or [])


class SuggestedInput(forms.TextInput):
    """A line of text with suggestions that need no script."""

    def __init__(self, suggestions: Iterable[str]) -> None:
        super().__init__()
        self.suggestions = tuple(suggestions)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The input and its datalist."""
        listed = f"{(attrs or {}).get('id', f'id_{name}')}_list"
        line = super().render(name, value, {**(attrs or {}), "list": listed}, renderer)
        options = format_html_join("", '<option value="{}">', ((one,) for one in self.suggestions))
        return format_html('{}<datalist id="{}">{}</datalist>', line, listed, options)


class RuleForm(ExcludeForm):
    """Exclusions, inclusion rule and ties."""

    field_order = ("title", "plan", "rule", "ties", "round", "seed", "steps")

    rule = forms.CharField(
        required=False,
        label="Inclusion rule",
        max_length=20,
        help_text=RULE_HELP,
        widget=SuggestedInput(RULES),
    )
    ties = forms.ChoiceField(choices=[(word, word) for word in TIES], required=False, label="Ties")

    def clean_rule(self) -> str:
        """Refuse a rule nobody knows."""
        rule = self.cleaned_data["rule"].strip()
        try:
            if rule:
                parse_rule(rule)
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error
        return rule

    def clean_ties(self) -> str:
        """Strict unless said otherwise."""
        return self.cleaned_data["ties"] or "strict"


class AgreementForm(RuleForm):
    """What an agreement report depends on; the round where the study has several."""

    round = forms.TypedChoiceField(coerce=int, empty_value=None, required=False, label="Round")

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, experiment=experiment, **kwargs)
        numbers = listed_rounds(experiment)
        self.fields["round"].choices = [("", "all"), *((number, f"round {number}") for number in numbers)]
        if len(numbers) == 1:
            self.fields["round"].widget = forms.HiddenInput()


class ProgressForm(AgreementForm):
    """What the report on a running study depends on."""

    field_order = ("plan", "rule", "more", "round", "steps")

    ties = None
    more = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_MORE,
        label="Further judgments",
        help_text="Of every item, for the outlook; 5 unless said otherwise.",
    )

    def choices(self) -> dict[str, Any]:
        """The choices as the report takes them; a wrong one gives the default."""
        data = getattr(self, "cleaned_data", {})
        return {
            "exclude": self.exclude(),
            "rule": data.get("rule") or RULE,
            "more": data.get("more") or MORE,
            "round_number": data.get("round"),
        }


class SeededForm(RuleForm):
    """The same, with the seed of what is drawn."""

    seed = forms.IntegerField(
        initial=0, min_value=0, max_value=2**31 - 1, required=False, help_text="Of the bootstrap."
    )

    def clean_seed(self) -> int:
        """Zero unless said otherwise."""
        return self.cleaned_data["seed"] or 0


class ReportForm(AgreementForm, SeededForm):
    """What a new report is made of."""


class ReleaseForm(SeededForm):
    """What a new release is made of."""

    title = forms.CharField(
        max_length=200, required=False, help_text="For your own list; no part of the files."
    )


class RatingsForm(ExcludeForm):
    """Exclusions and transformation of ratings."""

    field_order = ("plan", "transform", "ddof", "steps")

    transform = forms.ChoiceField(
        choices=[
            ("z", "z by participant"),
            ("z-log", "z of the logarithm"),
            ("robust-z", "robust z (median, MAD)"),
            ("rank-normal", "normal ranks"),
            ("raw", "raw values"),
        ],
        required=False,
    )
    ddof = forms.TypedChoiceField(
        choices=[("1", "n − 1 (ddof 1)"), ("0", "n (ddof 0)")],
        coerce=int,
        required=False,
        label="Divisor of the SD",
    )

    def clean_transform(self) -> str:
        """z unless said otherwise."""
        return self.cleaned_data["transform"] or "z"

    def clean_ddof(self) -> int:
        """One unless said otherwise."""
        given = self.cleaned_data["ddof"]
        return 1 if given in ("", None) else int(given)


class PlanForm(forms.Form):
    """A new plan, or the next version of one."""

    name = forms.SlugField(
        max_length=60,
        help_text="Letters, digits and hyphens. An old name makes the next version.",
        error_messages={"invalid": "Letters, digits and hyphens only, without spaces."},
    )
    steps = forms.MultipleChoiceField(
        choices=step_choices,
        widget=forms.CheckboxSelectMultiple,
        help_text="In this order, from top to bottom.",
    )
    max_errors = forms.IntegerField(
        min_value=0,
        initial=0,
        required=False,
        label="Catch trials that may be wrong",
        help_text="0: one is enough.",
    )
    min_share = forms.DecimalField(
        min_value=0,
        max_value=1,
        initial="0.9",
        required=False,
        label="Share of trials to answer",
        decimal_places=3,
    )
    minimum = forms.IntegerField(min_value=0, initial=4, required=False, label="Fewest answers")

    def as_steps(self) -> list[dict[str, Any]]:
        """The steps as a plan stores them."""
        return list(self._steps())

    def _steps(self) -> Iterator[dict[str, Any]]:
        given = {"catch_failed": "max_errors", "incomplete": "min_share", "too_few": "minimum"}
        for name in self.cleaned_data["steps"]:
            criterion, parameter = CRITERIA[name], given.get(name)
            value = self.cleaned_data.get(parameter) if parameter else None
            parameters = (
                {} if value is None else {parameter: str(value) if parameter == "min_share" else value}
            )
            yield {"name": name, "scope": criterion.scopes[0], "rule": name, "parameters": parameters}
