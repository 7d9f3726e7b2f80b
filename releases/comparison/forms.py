"""The form of a comparison."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from analysis.errors import BadInput
from experiments.models import Experiment
from releases.comparison.compare import Options as ComparisonOptions
from releases.models import Release, ScoringRun


class ComparisonForm(forms.Form):
    """Options of a comparison of models with people on one release."""

    release = forms.ModelChoiceField(Release.objects.none(), empty_label=None)
    runs = forms.ModelMultipleChoiceField(
        ScoringRun.objects.none(), widget=forms.CheckboxSelectMultiple, label="Models"
    )
    deltas = forms.CharField(
        initial="0.5 1 5", label="δ", help_text="Distances of the ADC, separated by spaces."
    )
    signs = forms.ChoiceField(
        choices=[
            ("strict", "strict: zero differences fail"),
            ("published", "as published: zero equals zero"),
        ],
        initial="strict",
    )
    already_standardized = forms.BooleanField(required=False, label="The scores are standardized already")

    def __init__(self, *args: Any, experiment: Experiment, runs: QuerySet[ScoringRun], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = Release.objects.filter(experiment=experiment, state=Release.State.READY)
        releases, models = self.fields["release"], self.fields["runs"]
        assert isinstance(releases, forms.ModelChoiceField) and isinstance(models, forms.ModelChoiceField)
        releases.queryset, models.queryset = ready.order_by("-number"), runs
        releases.label_from_instance = lambda obj: f"release {obj.number}"  # type: ignore[method-assign]

    def clean_deltas(self) -> list[float]:
        """Parse numbers separated by spaces or commas."""
        try:
            deltas = [float(word) for word in self.cleaned_data["deltas"].replace(",", " ").split()]
            ComparisonOptions(deltas=deltas)  # validates them
            return deltas
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error
        except ValueError as error:
            raise forms.ValidationError("Write numbers, for example 0.5 1 5.") from error
