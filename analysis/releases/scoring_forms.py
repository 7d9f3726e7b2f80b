"""The form for models that are scored here: which sentences, which models, by which measures."""

from typing import Any

from django import forms
from django.conf import settings

from analysis.comparison.roster import PREFIX_METHODS
from analysis.errors import BadInput
from analysis.releases.model_places import HUB_KINDS, checked_uri, offered_models
from analysis.releases.models import Release
from analysis.releases.option_fields import PREFIX, option_fields, with_options
from analysis.scoring.measures import MEASURES
from experiments.models import Experiment

MOST_MODELS = 50
KIND_WORDS = {
    "hf-causal": "causal (GPT and its kin)",
    "hf-masked": "masked (BERT and its kin)",
    "hf-classifier": "acceptability classifier",
}
MEASURE_WORDS = {
    "lp": "lp: log probability",
    "meanlp": "meanlp: by token",
    "penlp": "penlp: by a penalty of the length",
    "sllnlp": "sllnlp: by a power of the length",
    "charlp": "charlp: by character",
    "bytelp": "bytelp: by byte",
    "normlp": "normlp: by the words’ own log probability",
    "slor": "slor: beyond the words’ own log probability",
    "one_prefix": "one_prefix: words after one prefix",
    "two_prefix": "two_prefix: a word after two prefixes",
}
DEVICE_WORDS = {"cpu": "processors", "gpu": "accelerator"}


def measure_choices() -> list[tuple[str, str]]:
    """Measures first, then the prefix methods."""
    return [(name, MEASURE_WORDS.get(name, name)) for name in (*MEASURES, *PREFIX_METHODS)]


class ModelRunsForm(forms.Form):
    """Models to score the study's sentences with."""

    source = forms.ChoiceField(required=False, label="Sentences")
    models = forms.MultipleChoiceField(
        required=False, label="Models of this installation", widget=forms.CheckboxSelectMultiple
    )
    hub = forms.CharField(
        required=False,
        max_length=5_000,
        label="Models of the hub",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One on each line: gpt2, owner/name or owner/name@commit. Before it may stand the kind "
        "(hf-masked:…), after it options (…?casing=lower&method=pll). Code that a model brings is not run.",
    )
    kind = forms.ChoiceField(
        choices=[(kind, KIND_WORDS[kind]) for kind in HUB_KINDS],
        initial=HUB_KINDS[0],
        required=False,
        label="Kind of these, where none is written",
    )
    methods = forms.MultipleChoiceField(
        choices=measure_choices,
        initial=["lp"],
        label="Measures",
        widget=forms.CheckboxSelectMultiple,
        help_text="All of a model’s measures come from one scoring. A classifier’s answers are taken as "
        "they are. slor and normlp need the probabilities of single tokens: n-gram models and models trained "
        "here bring them, for others choose a file below. one_prefix and two_prefix need pairs made for it.",
    )
    device = forms.ChoiceField(required=False, label="Computed on")

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        releases = experiment.releases.filter(state=Release.State.READY).order_by("-number")
        self.releases = {str(one.number): one for one in releases}
        whole = ("", f"the study’s materials, {experiment.materials}")
        self.fields["source"].choices = [whole, *((n, f"release {n}") for n in self.releases)]
        offered = offered_models()
        self.fields["models"].choices = [(one.uri, one.label) for one in offered]
        if not offered:
            self.fields["models"].widget = forms.MultipleHiddenInput()
        devices = settings.SCORING_DEVICES
        self.fields["device"].choices = [(name, DEVICE_WORDS[name]) for name in devices]
        if len(devices) == 1:
            self.fields["device"].widget = forms.HiddenInput()
        self.has_local = bool(offered)
        self.fields |= option_fields()
        for name in ("source", "kind", "device"):
            self.fields[name].remark = ""

    def clean_hub(self) -> list[str]:
        """A checked address for each line."""
        found = []
        for number, line in enumerate(self.cleaned_data["hub"].splitlines(), start=1):
            if not line.strip():
                continue
            kind = self.data.get("kind") or HUB_KINDS[0]
            uri = line.strip() if ":" in line.partition("?")[0] else f"{kind}:{line.strip()}"
            try:
                found.append(checked_uri(uri))
            except BadInput as error:
                raise forms.ValidationError(f"line {number}: {error}") from error
        return found

    def main_fields(self) -> list[forms.BoundField]:
        """What is asked of everybody."""
        return [one for one in self.visible_fields() if not one.name.startswith(PREFIX)]

    def more_fields(self) -> list[forms.BoundField]:
        """How sentences are read, for who wants it otherwise."""
        return [one for one in self.visible_fields() if one.name.startswith(PREFIX)]

    def is_more_open(self) -> bool:
        """Whether one of these was chosen."""
        return any(one.value() or one.errors for one in self.more_fields())

    def clean(self) -> dict[str, Any]:
        """At least one model, and not more than a day's work."""
        data = super().clean() or {}
        given = list(dict.fromkeys([*data.get("models", []), *data.get("hub", [])]))
        options = {
            name.removeprefix(PREFIX): value
            for name, value in data.items()
            if name.startswith(PREFIX) and value
        }
        wrong: dict[str, str] = {}
        try:
            self.addresses = [with_options(uri, options, wrong) for uri in given]
        except BadInput as error:
            self.add_error(None, str(error))
        for name, words in wrong.items():
            self.add_error(name, words)
        n = len(given)
        if not self.errors and not n:
            self.add_error("models" if self.has_local else "hub", "Name at least one model.")
        if n > MOST_MODELS:
            self.add_error(None, f"{n} models at once are too many; {MOST_MODELS} are allowed.")
        return data

    def chosen(self) -> list[str]:
        """Addresses in the order of the form, with the options chosen."""
        return list(dict.fromkeys(self.addresses))

    def release(self) -> Release | None:
        """The release whose sentences are scored; none: all of the materials."""
        return self.releases.get(self.cleaned_data["source"])
