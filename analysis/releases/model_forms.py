"""Forms about models: their scores, what is known of them, and their comparison with people."""

from typing import Any

from django import forms

from analysis.comparison.roster import METHODS
from analysis.errors import BadInput
from analysis.releases.comparing import Options as ComparisonOptions
from analysis.releases.models import Release, ScoringRun
from analysis.releases.training import Training
from experiments.models import Experiment

TRAINING_FIELDS = ("family", "training_tokens", "seed", "corpus")
METHOD_WORDS = {
    "one_prefix": "one_prefix: words after one prefix",
    "two_prefix": "two_prefix: a word after two prefixes",
    "classifier": "classifier: scores as given",
}
METHOD_CHOICES = [(name, METHOD_WORDS.get(name, name)) for name in METHODS]


class ScoringForm(forms.Form):
    """A model: a file of scores, or an n-gram model in ARPA form."""

    file = forms.FileField(
        label="Scores or model",
        help_text="CSV, TSV, JSON lines or Parquet: sentence_id and a column per model; or an .arpa file.",
    )
    name = forms.CharField(max_length=200, required=False, help_text="As tables shall call it.")
    column = forms.CharField(
        max_length=200, required=False, help_text="Which column, where the file has several models."
    )
    method = forms.ChoiceField(
        choices=METHOD_CHOICES,
        initial="lp",
        label="Measure",
        help_text="Prefix methods and classifiers: a table's scores are taken as they are.",
    )
    training_tokens = forms.IntegerField(
        min_value=1, required=False, help_text="Size of the training text, for learning curves."
    )
    family = forms.CharField(
        max_length=200, required=False, help_text="Shared by models that differ in training alone."
    )
    seed = forms.CharField(
        max_length=40, required=False, help_text="Of the training, where there are several."
    )
    corpus = forms.CharField(
        max_length=200, required=False, help_text="What was filtered out, such as npi_licensing; empty: full."
    )

    def training(self) -> Training:
        """What was said of the training."""
        return Training(**{name: self.cleaned_data[name] for name in TRAINING_FIELDS})


class ScoreSetsForm(forms.Form):
    """Several models in one table, and what is known of each."""

    file = forms.FileField(
        label="Scores", help_text="CSV, TSV, JSON lines or Parquet: sentence_id and a column per model."
    )
    models = forms.FileField(
        required=False,
        label="Models",
        help_text="model (a column's name) and any of name, method, family, training_tokens, seed, corpus.",
    )


class ComparisonForm(forms.Form):
    """Models beside people on one release."""

    release = forms.ModelChoiceField(Release.objects.none(), empty_label=None)
    runs = forms.ModelMultipleChoiceField(
        ScoringRun.objects.none(), widget=forms.CheckboxSelectMultiple, label="Models"
    )
    deltas = forms.CharField(initial="0.5 1 5", label="δ", help_text="Distances of the ADC, apart by spaces.")
    signs = forms.ChoiceField(
        choices=[
            ("strict", "strict: zero differences fail"),
            ("published", "as published: zero equals zero"),
        ],
        initial="strict",
    )
    already_standardized = forms.BooleanField(required=False, label="The scores are standardized already")

    def __init__(self, *args: Any, experiment: Experiment, runs, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = Release.objects.filter(experiment=experiment, state=Release.State.READY)
        self.fields["release"].queryset = ready.order_by("-number")
        self.fields["release"].label_from_instance = lambda release: f"release {release.number}"
        self.fields["runs"].queryset = runs

    def clean_deltas(self) -> list[float]:
        """Numbers apart by spaces or commas."""
        try:
            deltas = [float(word) for word in self.cleaned_data["deltas"].replace(",", " ").split()]
            return ComparisonOptions(deltas=deltas).as_dict()["deltas"]
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error
        except ValueError as error:
            raise forms.ValidationError("Write numbers, for example 0.5 1 5.") from error
