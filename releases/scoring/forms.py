"""Forms for scoring models: runs on this installation, and uploaded scores or n-gram models."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings

from analysis.comparison.in_depth.models import METHODS, PREFIX_METHODS
from analysis.errors import BadInput
from analysis.files import SUFFIXES
from analysis.scoring.judgment_prompts import PROMPT_METHODS
from analysis.scoring.measures import MEASURES
from analysis.scoring.model_uri import ModelURI, Option, parse_model_uri
from analysis.scoring.registry import OPTIONS, check_options
from experiments.models import Experiment
from releases.models import Release
from releases.scoring.model_registry import (
    FORBIDDEN_OPTIONS,
    HUB_KINDS,
    checked_uri,
    checked_uris,
    offered_models,
    offered_unigrams,
)
from releases.scoring.training_metadata import Training

PREFIX = "option_"
DEFAULT = "default of the model"
TRAINED = ("tokens", "casing", "punctuation")  # recurrent models bring those of their training
# Kinds whose options the form offers, in the order of its fields; the others need a file or a server.
FORM_KINDS = (*HUB_KINDS, "arpa", "lstm")


def form_options() -> dict[str, list[Option]]:
    """Return the options of the form by name; kinds may declare one of a name with other values."""
    by_name: dict[str, list[Option]] = {}
    for kind in FORM_KINDS:
        for option in OPTIONS[kind]:
            if option.name not in FORBIDDEN_OPTIONS:
                by_name.setdefault(option.name, []).append(option)
    return by_name


def option_fields() -> dict[str, forms.Field]:
    """Return a field for each option; an empty one leaves the choice to the model."""
    fields: dict[str, forms.Field] = {}
    for name, options in form_options().items():
        values = [value for option in options for value in option.values]
        if name == "unigram":
            values = offered_unigrams()
        initials = {option.initial for option in options}
        initial = initials.pop() if len(initials) == 1 and name not in TRAINED else ""
        common: dict[str, Any] = {
            "required": False,
            "label": options[0].label,
            "help_text": " ".join(dict.fromkeys(option.help for option in options)),
        }
        if (values or name == "unigram") and not any(option.pattern for option in options):
            empty = f"default: {initial}" if initial else DEFAULT
            choices = [("", empty), *((value, value) for value in dict.fromkeys(values))]
            fields[PREFIX + name] = forms.ChoiceField(choices=choices, **common)
        else:
            if initial:
                common["help_text"] += f" Default: {initial}."
            fields[PREFIX + name] = forms.CharField(max_length=200, **common)
        fields[PREFIX + name].remark = ""  # type: ignore[attr-defined]  # read by the field's template
    return fields


def with_options(uri: str, chosen: Mapping[str, str], errors: dict[str, str]) -> str:
    """Return the model URI with the options chosen in the form; its own options take precedence.

    Options that this kind of model does not have are added to ``errors``, by the name of the field.
    """
    parsed = parse_model_uri(uri)
    options = dict(parsed.options)
    for name, value in chosen.items():
        if name in options:
            continue
        try:
            check_options(parsed._replace(options={name: value}), without=FORBIDDEN_OPTIONS)
        except BadInput as error:
            errors.setdefault(PREFIX + name, f"{parsed.target}: {error}")
        options[name] = value
    if errors or options == parsed.options:
        return uri
    return checked_uri(str(ModelURI(parsed.kind, parsed.target, options)))


MAX_MODELS = 50  # a day's work of one process
KIND_LABELS = {
    "hf-causal": "causal (such as GPT)",
    "hf-masked": "masked (such as BERT)",
    "hf-classifier": "acceptability classifier",
    "hf-seq2seq": "encoder-decoder (such as T5)",
    "hf-mntp": "bidirectional decoder (LLM2Vec)",
    "hf-diffusion": "masked diffusion (LLaDA)",
}
PREFIX_LABELS = {
    "one_prefix": "one_prefix: words after one prefix",
    "two_prefix": "two_prefix: a word after two prefixes",
}
PROMPT_LABELS = {
    "yes_no": "yes_no: asked whether it is acceptable",
    "rating": "rating: asked for a rating",
    "forced_choice": "forced_choice: asked which of a pair",
}
MEASURE_LABELS = {
    "lp": "lp: log probability",
    "meanlp": "meanlp: per token",
    "penlp": "penlp: with a length penalty",
    "sllnlp": "sllnlp: per power of the length",
    "charlp": "charlp: per character",
    "bytelp": "bytelp: per byte",
    "normlp": "normlp: relative to the unigram log probability",
    "slor": "slor: beyond the unigram log probability",
    **PREFIX_LABELS,
    **PROMPT_LABELS,
}
DEVICE_LABELS = {"cpu": "CPU", "gpu": "GPU"}


def measure_choices() -> list[tuple[str, str]]:
    """Return measures, then the prefix methods and prompts."""
    methods = (*MEASURES, *PREFIX_METHODS, *PROMPT_METHODS)
    return [(name, MEASURE_LABELS.get(name, name)) for name in methods]


class ModelRunsForm(forms.Form):
    """Models to score the study's sentences with."""

    source = forms.ChoiceField(required=False, label="Sentences")
    models = forms.MultipleChoiceField(
        required=False, label="Models of this installation", widget=forms.CheckboxSelectMultiple
    )
    hub = forms.CharField(
        required=False,
        max_length=5_000,
        label="Models of the Hugging Face hub",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One per line: gpt2, owner/name or owner/name@commit; several "
        "checkpoints as owner/name@step1000,step2000. Optional prefix: model type "
        "(hf-masked:…); optional suffix: options (…?casing=lower&method=pll). Code from a model’s repository "
        "is not run.",
    )
    kind = forms.ChoiceField(
        choices=[(kind, KIND_LABELS[kind]) for kind in HUB_KINDS],
        initial=HUB_KINDS[0],
        required=False,
        label="Model type of lines without a prefix",
    )
    methods = forms.MultipleChoiceField(
        choices=measure_choices,
        initial=["lp"],
        label="Measures",
        widget=forms.CheckboxSelectMultiple,
        help_text="All measures of a model come from one scoring run. The output of a classifier is used as "
        "it is. slor and normlp need unigram probabilities: n-gram models and models trained here include "
        "them, for others choose a file below. one_prefix and two_prefix need pairs made for the method; "
        "yes_no, rating and forced_choice need an instruction-tuned causal model.",
    )
    device = forms.ChoiceField(required=False, label="Computed on")

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        releases = experiment.releases.filter(state=Release.State.READY).order_by("-number")
        self.releases = {str(release.number): release for release in releases}
        materials = ("", f"the study’s materials, {experiment.materials}")
        self._choices("source", [materials, *((n, f"release {n}") for n in self.releases)])
        models = offered_models()
        self._choices("models", [(model.uri, model.label) for model in models])
        if not models:
            self.fields["models"].widget = forms.MultipleHiddenInput()
        devices = settings.SCORING_DEVICES
        self._choices("device", [(name, DEVICE_LABELS[name]) for name in devices])
        if len(devices) == 1:
            self.fields["device"].widget = forms.HiddenInput()
        self.has_local = bool(models)
        self.fields |= option_fields()
        for name in ("source", "kind", "device"):
            self.fields[name].remark = ""  # type: ignore[attr-defined]  # read by the field's template

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]  # a ChoiceField

    def clean_hub(self) -> list[str]:
        """Return a checked model URI for each line."""
        uris = []
        for number, line in enumerate(self.cleaned_data["hub"].splitlines(), start=1):
            if not line.strip():
                continue
            kind = self.data.get("kind") or HUB_KINDS[0]
            uri = line.strip() if ":" in line.partition("?")[0] else f"{kind}:{line.strip()}"
            try:
                uris += checked_uris(uri)
            except BadInput as error:
                raise forms.ValidationError(f"line {number}: {error}") from error
        return uris

    def main_fields(self) -> list[forms.BoundField]:
        """Return the fields shown first."""
        return [field for field in self.visible_fields() if not field.name.startswith(PREFIX)]

    def more_fields(self) -> list[forms.BoundField]:
        """Return the options of models, which are folded."""
        return [field for field in self.visible_fields() if field.name.startswith(PREFIX)]

    def is_more_open(self) -> bool:
        """Return whether an option was chosen or is wrong."""
        return any(field.value() or field.errors for field in self.more_fields())

    def clean(self) -> dict[str, Any]:
        """Require at least one model, and limit their number."""
        data = super().clean() or {}
        models = list(dict.fromkeys([*data.get("models", []), *data.get("hub", [])]))
        options = {
            name.removeprefix(PREFIX): value
            for name, value in data.items()
            if name.startswith(PREFIX) and value
        }
        option_errors: dict[str, str] = {}
        try:
            self.model_uris = [with_options(uri, options, option_errors) for uri in models]
        except BadInput as error:
            self.add_error(None, str(error))
        for name, message in option_errors.items():
            self.add_error(name, message)
        if not self.errors and not models:
            self.add_error("models" if self.has_local else "hub", "Name at least one model.")
        if len(models) > MAX_MODELS:
            self.add_error(None, f"{len(models)} models at once are too many; {MAX_MODELS} are allowed.")
        return data

    def chosen(self) -> list[str]:
        """Return model URIs in the order of the form, with the options chosen."""
        return list(dict.fromkeys(self.model_uris))

    def release(self) -> Release | None:
        """Return the release whose sentences are scored; None for all of the materials."""
        return self.releases.get(self.cleaned_data["source"])


TRAINING_FIELDS = ("family", "training_tokens", "seed", "corpus")
METHOD_LABELS = {**PREFIX_LABELS, **PROMPT_LABELS, "classifier": "classifier: scores as given"}
METHOD_CHOICES = [(name, METHOD_LABELS.get(name, name)) for name in METHODS]


SIGN_CHOICES = [
    ("", "higher, unless name or values suggest otherwise"),
    ("higher", "higher is better: log probability"),
    ("lower", "lower is better: surprisal, perplexity, loss (values are negated)"),
]


def sign_field() -> forms.ChoiceField:
    """Which scores of an uploaded table mean a better sentence."""
    return forms.ChoiceField(
        choices=SIGN_CHOICES,
        required=False,
        label="Which scores are better?",
        help_text="A column named surprisal, perplexity or loss, or with positive values only, has to be "
        "confirmed.",
    )


class ScoringForm(forms.Form):
    """A model: a file of scores, or an n-gram model in ARPA format."""

    file = forms.FileField(
        label="Scores or model",
        help_text="CSV, TSV, JSON lines or Parquet: sentence_id and a column per model; or an .arpa file.",
    )
    name = forms.CharField(max_length=200, required=False, help_text="Name shown in tables.")
    column = forms.CharField(
        max_length=200, required=False, help_text="The column of scores, if the file has several models."
    )
    sign = sign_field()
    method = forms.ChoiceField(
        choices=METHOD_CHOICES,
        initial="lp",
        label="Measure",
        help_text="With prefix methods and classifiers, the scores of a table are used as they are.",
    )
    training_tokens = forms.IntegerField(
        min_value=1, required=False, help_text="Size of the training text, for learning curves."
    )
    family = forms.CharField(
        max_length=200, required=False, help_text="Shared by models that differ in training only."
    )
    seed = forms.CharField(
        max_length=40, required=False, help_text="Random seed of the training, if there are several."
    )
    corpus = forms.CharField(
        max_length=200,
        required=False,
        help_text="What was filtered out, such as npi_licensing. Empty = full corpus.",
    )

    def training(self) -> Training:
        """Return the training metadata."""
        return Training(**{name: self.cleaned_data[name] for name in TRAINING_FIELDS})


class SurprisalsForm(forms.Form):
    """Regions to tabulate the surprisal of, beside tokens and words."""

    regions = forms.FileField(
        required=False,
        label="Regions",
        widget=forms.FileInput(attrs={"accept": ",".join(SUFFIXES)}),
        help_text="CSV, TSV, JSON lines or Parquet: sentence_id, region (its name) and text, or start and "
        "end. Critical regions of the materials are tabulated without it.",
    )


class ScoreSetsForm(forms.Form):
    """Several models in one table, with the metadata of each."""

    file = forms.FileField(
        label="Scores", help_text="CSV, TSV, JSON lines or Parquet: sentence_id and a column per model."
    )
    models = forms.FileField(
        required=False,
        label="Models",
        help_text="model (the name of a column) and any of name, method, family, training_tokens, seed, "
        "corpus.",
    )
    sign = sign_field()
