"""Forms of the results pages: exclusions, inclusion rule, transformation and the options of each report."""

from collections.abc import Iterable, Iterator
from math import inf, isfinite
from typing import Any, cast

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analysis.agreement.inclusion import parse_rule
from analysis.choices import (
    BY,
    CORRECTION_NAMES,
    INTERVAL_METHODS,
    MAX_MORE,
    MORE,
    MULTIVERSE_MODELS,
    PROGRESS_RULE,
    STOPPING_PARTICIPANTS,
    STOPPING_THRESHOLD,
    TIES,
)
from analysis.effects.response_times import parse_outlier_rule
from analysis.errors import BadInput, UnknownName
from analysis.exclusions.criteria import CRITERIA
from analysis.gold.formats.registry import FORMATS
from experiments.lists.rounds import round_numbers
from experiments.models import Experiment
from releases.gold.plans import (
    NONE,
    chosen_exclusion,
    current_exclusion,
    current_plan_row,
    find_plan_row,
    stored_names,
)
from releases.reports.compute import background_answers
from releases.reports.exclusion_steps import step_choices

RULE_HELP = "blimp (4 of 5 by majority), climp (mean of .85), M/N such as 3/5, or a share such as 0.8."
RULES = ("blimp", "climp", "4/5", "0.85")
TRANSFORMS = [
    ("z", "z by participant"),
    ("z-log", "z of the logarithm"),
    ("robust-z", "robust z (median, MAD)"),
    ("rank-normal", "normal ranks"),
    ("raw", "raw values"),
]


def plan_choices(experiment: Experiment) -> list[tuple[str, str]]:
    """The current plan, nothing, and every stored plan by name."""
    names = [(name, name) for name in stored_names(experiment)]
    row = current_plan_row(experiment)
    if row is None:
        return [("", "none"), *names]
    return [("", f"current: {row}"), (NONE, "none"), *names]


def is_stored(experiment: Experiment, version: str) -> bool:
    """Whether ``name@version`` is a version of a stored plan."""
    try:
        return find_plan_row(experiment, version) is not None
    except UnknownName:
        return False


def offer_steps(form: forms.Form, study: Experiment) -> None:
    """Offer the steps for the study's task; sent ones stay, as in links to a page with other steps."""
    sent = form.data.getlist("steps") if isinstance(form.data, MultiValueDict) else form.data.get("steps", [])
    cast(forms.MultipleChoiceField, form.fields["steps"]).choices = step_choices(study, sent)


class ExcludeForm(forms.Form):
    """Which judgments to exclude: the study's current plan, another stored plan, or built-in steps."""

    plan = forms.ChoiceField(required=False, label="Plan")
    steps = forms.MultipleChoiceField(
        required=False, label="Custom exclusions", widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.experiment = experiment
        offer_steps(self, experiment)
        self.fields["steps"].is_folded = True  # type: ignore[attr-defined]  # read by _field.html
        plan = cast(forms.ChoiceField, self.fields["plan"])
        plan.choices = plan_choices(experiment)
        choice = str(self.data.get("plan", "")) if self.is_bound else ""
        if choice == NONE or ("@" in choice and is_stored(experiment, choice)):
            plan.choices = [*(pair for pair in plan.choices if pair[0] != choice), (choice, choice)]

    def exclude(self) -> str:
        """The choice in the syntax of ``--exclude``; a plan takes precedence over steps."""
        data = getattr(self, "cleaned_data", {})
        choice = str(data.get("plan") or ",".join(data.get("steps") or []))
        return chosen_exclusion(self.experiment, choice)

    def choices(self) -> dict[str, Any]:
        """The choices as the report takes them; the default of each invalid one."""
        return {"exclude": self.exclude()}


class SuggestedInput(forms.TextInput):
    """A text input with suggestions, by a ``datalist``: works without JavaScript."""

    def __init__(self, suggestions: Iterable[str]) -> None:
        super().__init__()
        self.suggestions = tuple(suggestions)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The input and its datalist."""
        list_id = f"{(attrs or {}).get('id', f'id_{name}')}_list"
        line = super().render(name, value, {**(attrs or {}), "list": list_id}, renderer)
        options = format_html_join(
            "", '<option value="{}">', ((suggestion,) for suggestion in self.suggestions)
        )
        return format_html('{}<datalist id="{}">{}</datalist>', line, list_id, options)


class InclusionRuleForm(ExcludeForm):
    """Exclusions and inclusion rule."""

    rule = forms.CharField(
        required=False,
        label="Inclusion rule",
        max_length=20,
        help_text=RULE_HELP,
        widget=SuggestedInput(RULES),
    )

    def clean_rule(self) -> str:
        """Refuse an unknown rule."""
        rule = str(self.cleaned_data["rule"]).strip()
        try:
            if rule:
                parse_rule(rule)
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error
        return rule


class RuleForm(InclusionRuleForm):
    """Exclusions, inclusion rule and ties."""

    field_order: tuple[str, ...] = ("title", "plan", "rule", "ties", "round", "seed", "steps")

    ties = forms.ChoiceField(choices=[(word, word) for word in TIES], required=False, label="Ties")

    def clean_ties(self) -> str:
        """Default: strict."""
        return str(self.cleaned_data["ties"] or "strict")


class AgreementForm(RuleForm):
    """Options of the agreement report; the round where the study has several."""

    field_order: tuple[str, ...] = ("plan", "rule", "ties", "round", "interval", "cross_fit", "steps")

    round = forms.TypedChoiceField(coerce=int, empty_value=None, required=False, label="Round")
    interval = forms.ChoiceField(
        choices=[(name, f"{name}: {text}") for name, text in INTERVAL_METHODS.items()],
        required=False,
        label="Intervals over participants",
    )
    cross_fit = forms.BooleanField(
        required=False,
        label="Correct for the selection",
        help_text="Included paradigms measured by participants who had no part in including them.",
    )

    def clean_interval(self) -> str:
        """Default: auto."""
        return str(self.cleaned_data["interval"] or "auto")

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, experiment=experiment, **kwargs)
        numbers = round_numbers(experiment)
        rounds = cast(forms.ChoiceField, self.fields["round"])
        rounds.choices = [("", "all"), *((number, f"round {number}") for number in numbers)]
        if len(numbers) == 1:
            self.fields["round"].widget = forms.HiddenInput()

    def choices(self) -> dict[str, Any]:
        """The choices as the report takes them; all defaults if one is invalid."""
        if self.errors:
            exclude = current_exclusion(self.experiment)
            return {
                "exclude": exclude, "rule": "", "ties": "strict", "round_number": None, "interval": "auto",
                "cross_fit": False,
            }  # fmt: skip
        data = self.cleaned_data
        return {
            "exclude": self.exclude(),
            "rule": data["rule"],
            "ties": data["ties"],
            "round_number": data["round"],
            "interval": data.get("interval") or "auto",
            "cross_fit": bool(data.get("cross_fit")),
        }


class ProgressForm(AgreementForm):
    """Options of the report on a running study."""

    field_order = ("plan", "rule", "more", "round", "steps")

    # Django removes inherited fields that are set to None
    ties = None  # type: ignore[assignment]
    interval = None  # type: ignore[assignment]
    cross_fit = None  # type: ignore[assignment]
    more = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_MORE,
        label="Further judgments",
        help_text="Per item, for the prediction; 5 by default.",
    )

    def choices(self) -> dict[str, Any]:
        """The choices as the report takes them; the default of each invalid one."""
        data = getattr(self, "cleaned_data", {})
        return {
            "exclude": self.exclude(),
            "rule": data.get("rule") or PROGRESS_RULE,
            "more": data.get("more") or MORE,
            "round_number": data.get("round"),
        }


class SeededForm(RuleForm):
    """Exclusions, inclusion rule, ties and seed."""

    seed = forms.IntegerField(
        initial=0, min_value=0, max_value=2**31 - 1, required=False, help_text="Seed of the bootstrap."
    )

    def clean_seed(self) -> int:
        """Default: 0."""
        return self.cleaned_data["seed"] or 0


class CorrectionForm(ExcludeForm):
    """The correction for several tests."""

    correction = forms.ChoiceField(
        choices=list(CORRECTION_NAMES.items()),
        required=False,
        label="Correction",
        help_text="For several tests. Holm: no false one; Benjamini–Hochberg: few of those that are found.",
    )


class SesoiForm(ExcludeForm):
    """The smallest effect of interest."""

    sesoi = forms.FloatField(
        required=False,
        min_value=1e-6,
        max_value=1e6,
        label="Smallest effect of interest",
        help_text="Tests whether contrasts are equivalent within it: a difference of ratings (in z, or on "
        "the scale), or of shares: 0.1 is 10 points.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


class OutliersForm(ExcludeForm):
    """The outlier rule of response times."""

    outliers = forms.CharField(
        required=False,
        max_length=60,
        label="Outliers of response times",
        help_text="Limits in milliseconds, a spread of log times by participant, or both: 200-10000,2.5sd. "
        "By default none.",
        widget=SuggestedInput(("200-10000", "2.5sd", "200-10000,2.5sd", "3mad")),
    )

    def clean_outliers(self) -> str:
        """Refuse an unreadable rule."""
        text = str(self.cleaned_data["outliers"]).strip()
        try:
            parse_outlier_rule(text)
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error
        return text


class StudyReportForm(AgreementForm, SeededForm, CorrectionForm, SesoiForm, OutliersForm):
    """Options of a new study report."""

    interval = None  # type: ignore[assignment]  # reports take the default
    field_order = (
        "plan",
        "rule",
        "ties",
        "round",
        "seed",
        "correction",
        "sesoi",
        "outliers",
        "multiverse",
        "steps",
    )

    multiverse = forms.BooleanField(
        required=False,
        label="Multiverse in the appendix",
        help_text="The effect under every combination of exclusions, transformation and model; takes longer.",
    )

    def analyses(self) -> dict[str, Any]:
        """The choices of the report's analyses."""
        data = self.cleaned_data
        return {
            "correction": data["correction"] or "holm",
            "sesoi": data["sesoi"],
            "outliers": data["outliers"],
            "multiverse": data["multiverse"],
        }


class ReleaseForm(SeededForm):
    """Options of a new release."""

    title = forms.CharField(
        max_length=200, required=False, help_text="Shown in the list of releases; not part of the files."
    )
    formats = forms.MultipleChoiceField(
        choices=[(name, format.label) for name, format in FORMATS.items()],
        required=False,
        label="Also for other tools",
        widget=forms.CheckboxSelectMultiple,
        help_text="Files that are added to the release; the others stay as they are.",
    )


class ZerosForm(ExcludeForm):
    """The choice about estimates of zero, in studies of magnitude estimation."""

    zeros = forms.ChoiceField(
        choices=[("keep", "kept"), ("leave-out", "left out")],
        required=False,
        label="Estimates of zero",
        help_text="In raw numbers and z; logarithms never have them.",
    )

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, experiment=experiment, **kwargs)
        if experiment.task != "magnitude_estimation":
            del self.fields["zeros"]


class RatingsForm(ZerosForm):
    """Exclusions and transformation of ratings."""

    field_order = ("plan", "transform", "zeros", "ddof", "steps")

    transform = forms.ChoiceField(choices=TRANSFORMS, required=False)
    ddof = forms.TypedChoiceField(
        choices=[("1", "n − 1 (ddof 1)"), ("0", "n (ddof 0)")],
        coerce=int,
        required=False,
        label="Divisor of the SD",
    )

    def clean_transform(self) -> str:
        """Default: z."""
        return str(self.cleaned_data["transform"] or "z")

    def clean_ddof(self) -> int:
        """Default: 1."""
        ddof = self.cleaned_data["ddof"]
        return 1 if ddof in ("", None) else int(ddof)

    def choices(self) -> dict[str, Any]:
        """The choices as the report takes them; all defaults if one is invalid."""
        if self.errors:
            exclude = current_exclusion(self.experiment)
            return {"exclude": exclude, "transform": "z", "ddof": 1, "zeros": "keep"}
        data = self.cleaned_data
        return {
            "exclude": self.exclude(),
            "transform": data["transform"],
            "ddof": data["ddof"],
            "zeros": data.get("zeros") or "keep",
        }


class PlanForm(forms.Form):
    """A new plan, or the next version of one."""

    name = forms.CharField(
        max_length=60,
        help_text="Such as Catch trials, stored as catch-trials. The name of an existing plan makes its next "
        "version.",
    )
    steps = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="Applied in this order, from top to bottom.",
    )
    max_errors = forms.IntegerField(
        min_value=0,
        initial=0,
        required=False,
        label="Wrong catch trials allowed",
        help_text="0: one wrong answer excludes the session.",
    )
    min_share = forms.DecimalField(
        min_value=0,
        max_value=1,
        initial="0.9",
        required=False,
        label="Minimum share of trials answered",
        decimal_places=3,
    )
    max_share = forms.DecimalField(
        min_value=0,
        max_value=1,
        initial="0.2",
        required=False,
        label="Maximum share of trials timed out",
        help_text="In studies with a deadline.",
        decimal_places=3,
    )
    minimum = forms.IntegerField(min_value=0, initial=4, required=False, label="Minimum number of answers")
    current = forms.BooleanField(
        initial=True,
        required=False,
        label="Use as the study's current plan",
        help_text="All results, figures, exports, releases and reports use it unless another is chosen.",
    )

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_steps(self, experiment)

    def as_steps(self) -> list[dict[str, Any]]:
        """The steps as a plan stores them."""
        return list(self._steps())

    def _steps(self) -> Iterator[dict[str, Any]]:
        fields = {
            "catch_failed": "max_errors",
            "incomplete": "min_share",
            "timed_out": "max_share",
            "too_few": "minimum",
        }
        for name in self.cleaned_data["steps"]:
            criterion, parameter = CRITERIA[name], fields.get(name)
            value = self.cleaned_data.get(parameter) if parameter else None
            is_share = parameter in ("min_share", "max_share")
            parameters = {} if value is None else {parameter: str(value) if is_share else value}
            yield {"name": name, "scope": criterion.scopes[0], "rule": name, "parameters": parameters}


class ReportForm(ExcludeForm):
    """Exclusions and the choices of one report; every choice has a default."""

    defaults: dict[str, Any] = {}

    def choices(self) -> dict[str, Any]:
        """The choices as the report takes them; the default of each empty or invalid one."""
        data = getattr(self, "cleaned_data", {})
        values = {name: data.get(name) for name in self.defaults}
        return {
            "exclude": self.exclude(),
            **{name: self.defaults[name] if value in ("", None) else value for name, value in values.items()},
        }


class ReliabilityForm(ReportForm, ZerosForm, InclusionRuleForm):
    """Coding of choices, transform of ratings, and the rule for coefficients over included paradigms."""

    field_order = ("plan", "rule", "coding", "transform", "zeros", "steps")
    defaults = {"coding": "label_blind", "transform": "z", "zeros": "keep", "rule": ""}

    coding = forms.ChoiceField(
        choices=[("label_blind", "blind to the label"), ("expected", "by expected label")], required=False
    )
    transform = forms.ChoiceField(choices=TRANSFORMS, required=False)


class EffectsForm(ReportForm, CorrectionForm, SesoiForm, ZerosForm):
    """Contrasts, scale, random structure, correction, smallest effect of interest and design."""

    field_order = (
        "plan", "by", "conditions", "transform", "zeros", "slopes", "correction", "sesoi", "population",
        "factorial", "steps",
    )  # fmt: skip
    defaults = {
        "by": "phenomenon",
        "transform": "z",
        "zeros": "keep",
        "slopes": "auto",
        "population": None,
        "factorial": "",
        "conditions": "",
        "correction": "holm",
        "sesoi": None,
    }

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="Contrasts by")
    transform = forms.ChoiceField(choices=TRANSFORMS, required=False)
    slopes = forms.ChoiceField(
        choices=[("auto", "as the data allow"), ("none", "none"), ("participant", "by participant"),
                 ("item", "by item"), ("participant,item", "by both")],
        required=False,
        label="Random slopes",
    )  # fmt: skip
    population = forms.IntegerField(
        required=False,
        min_value=2,
        max_value=10**7,
        label="Contrasts in the literature",
        help_text="Number of published contrasts from which these are a sample.",
    )
    factorial = forms.CharField(
        required=False,
        max_length=300,
        label="2×2 conditions",
        help_text="Plain–plain, marked–plain, plain–marked, marked–marked, with commas. Default: factors.",
    )
    conditions = forms.CharField(
        required=False,
        max_length=300,
        label="Contrast of conditions",
        help_text="Two conditions or levels of a factor, the higher first: plausible,implausible. "
        "Default: acceptable and unacceptable sentences.",
    )


class TimesForm(ReportForm, OutliersForm):
    """Contrasts and outliers of response times."""

    field_order = ("plan", "by", "outliers", "steps")
    defaults = {"by": "phenomenon", "outliers": ""}

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="Contrasts by")


class GroupsForm(ReportForm, CorrectionForm, ZerosForm):
    """The question or column of the groups, contrasts, scale and correction."""

    field_order = ("plan", "group", "reference", "cuts", "by", "transform", "zeros", "correction", "steps")
    defaults = {
        "group": "", "reference": "", "cuts": (), "by": "phenomenon", "transform": "z", "zeros": "keep",
        "correction": "holm",
    }  # fmt: skip

    group = forms.CharField(
        required=False,
        max_length=200,
        label="Groups by",
        help_text="A question of the background. Default: the first that gives two groups of five.",
    )
    reference = forms.CharField(
        required=False, max_length=200, label="Reference", help_text="Default: the largest group."
    )
    cuts = forms.CharField(
        required=False,
        max_length=100,
        label="Ranges of a number",
        help_text="Last number of each range, such as 30, 50. Default: the median.",
    )
    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="Contrasts by")
    transform = forms.ChoiceField(choices=TRANSFORMS, required=False)

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, experiment=experiment, **kwargs)
        self.fields["group"].widget = SuggestedInput(list(background_answers(experiment).columns[1:]))

    def clean_cuts(self) -> list[float]:
        """Refuse what is no number."""
        try:
            cuts = [float(part) for part in str(self.cleaned_data["cuts"]).replace(",", " ").split()]
        except ValueError:
            cuts = [inf]
        if not all(map(isfinite, cuts)):
            raise forms.ValidationError("Write numbers, for example 30, 50.")
        return cuts


class SequentialForm(ReportForm, ZerosForm):
    """The stopping rule, contrasts and scale."""

    field_order = ("plan", "threshold", "least", "largest", "by", "transform", "zeros", "steps")
    defaults = {
        "threshold": STOPPING_THRESHOLD, "least": STOPPING_PARTICIPANTS, "largest": None, "by": "phenomenon",
        "transform": "z", "zeros": "keep",
    }  # fmt: skip

    threshold = forms.FloatField(
        required=False,
        min_value=1.01,
        max_value=1e6,
        help_text="Bayes factor at which, or at whose reciprocal, the rule stops; 10 by default.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    least = forms.IntegerField(
        required=False,
        min_value=2,
        max_value=10**6,
        label="Least number",
        help_text="Of participants before a decision; 20 by default.",
    )
    largest = forms.IntegerField(
        required=False,
        min_value=2,
        max_value=10**6,
        label="Largest number",
        help_text="Of participants; by default unlimited.",
    )
    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="Contrasts by")
    transform = forms.ChoiceField(choices=TRANSFORMS, required=False)


class MultiverseForm(ReportForm):
    """The effect, and the study's own specification."""

    field_order = ("plan", "by", "contrast", "effect", "transform", "model", "steps")
    defaults = {
        "by": "phenomenon", "contrast": "", "effect": "contrast", "transform": "z", "model": "mixed-slopes",
    }  # fmt: skip

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="Contrasts by")
    contrast = forms.CharField(
        required=False, max_length=200, help_text="One phenomenon or paradigm; by default all together."
    )
    effect = forms.ChoiceField(
        choices=[("contrast", "acceptable − unacceptable"), ("interaction", "difference of differences")],
        required=False,
    )
    transform = forms.ChoiceField(
        choices=TRANSFORMS, required=False, label="Own transform", help_text="Of the marked specification."
    )
    model = forms.ChoiceField(
        choices=list(reversed(MULTIVERSE_MODELS.items())),
        required=False,
        label="Own model",
        help_text="Of the marked specification.",
    )


class OrdinalForm(ReportForm):
    """Contrasts and random structure."""

    field_order = ("plan", "by", "slopes", "bayesian", "steps")
    defaults = {"by": "phenomenon", "slopes": "auto", "bayesian": False}

    by = forms.ChoiceField(choices=[(word, word) for word in BY], required=False, label="Contrasts by")
    slopes = forms.ChoiceField(
        choices=[("auto", "as the data allow"), ("none", "none")], required=False, label="Random slopes"
    )
    bayesian = forms.BooleanField(
        required=False, label="Bayesian model", help_text="Adds a minute or more for each contrast."
    )
