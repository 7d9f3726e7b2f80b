"""The options of a model's address as fields of a form: all that the command takes, in plain words."""

from collections.abc import Mapping
from typing import Any

from django import forms

from analysis.errors import BadInput
from analysis.releases.model_places import NOT_NAMED, checked_uri, offered_unigrams, written
from analysis.scoring.base import ScorerAddress, parse_address
from analysis.scoring.options import OPTIONS, check_options

PREFIX = "option_"
BY_ITSELF = "as each model does by itself"
WORDS: dict[str, tuple[str, str]] = {
    "boundary": (
        "Ends of critical words",
        "For one_prefix and two_prefix, causal models: “corrected” adds the probability that the word ends, "
        "and takes away that one begins. Whole sentences keep their score.",
    ),
    "vocabulary": (
        "Rows of the model that no token has",
        "Causal and masked models: “model” lets them share in every probability, as other tools do; "
        "“tokenizer” takes them away.",
    ),
    "unigram": (
        "Single tokens, for slor and normlp",
        "A file that manage.py train_unigram made with this very model, ending in .unigrams.txt, in the "
        "folder of models. N-gram models and models trained here bring their own.",
    ),
    "bos": ("Mark before a sentence", "Causal models: auto, bos, eos or none; n-gram models: yes or no."),
    "eos": ("End of a sentence", "Whether its probability counts. Causal, recurrent and n-gram models."),
    "casing": ("Capital letters", "“lower” makes all letters small before the model reads them."),
    "punctuation": (
        "Punctuation",
        "N-gram and recurrent models: whether “park.” is one token, two, or “park”.",
    ),
    "tokens": (
        "Tokens",
        "N-gram and recurrent models: cut at spaces, into characters, or into Chinese words (jieba).",
    ),
    "space": ("Space before a sentence", "Causal and masked models: as lm-evaluation-harness does."),
    "method": ("Masked models", "“pll-l2r” masks the later pieces of a word too; “pll” is the original."),
    "output": ("Classifiers", "“confidence” is signed and leaves out −.5 to .5; “margin” is continuous."),
    "label": ("Classifiers: the label for acceptable", "Only where it is not called acceptable or 1."),
    "dtype": ("Numbers", "Half precision is faster, less exact, and scored as another model."),
    "path": (
        "Way through causal models",
        "For comparisons of speed; “auto” tries and takes the quickest that is right.",
    ),
    "engine": ("Reader of n-gram files", "Both give the same numbers."),
}


def option_fields() -> dict[str, forms.Field]:
    """A field for each option, by its name in the form; empty leaves it to the model."""
    fields: dict[str, forms.Field] = {}
    for name, (label, hint) in WORDS.items():
        values = [one for kind in OPTIONS.values() for one in kind.get(name, ())]
        if name == "unigram":
            values = offered_unigrams()
        common: dict[str, Any] = {"required": False, "label": label, "help_text": hint}
        if name == "label":
            fields[PREFIX + name] = forms.CharField(max_length=100, **common)
        else:
            choices = [("", BY_ITSELF), *((one, one) for one in dict.fromkeys(values))]
            fields[PREFIX + name] = forms.ChoiceField(choices=choices, **common)
        fields[PREFIX + name].remark = ""  # type: ignore[attr-defined]
    return fields


def with_options(uri: str, chosen: Mapping[str, str], errors: dict[str, str]) -> str:
    """The address with the options chosen; what stands in it already goes before them.

    An option that this kind of model does not have is told in ``errors``, in the words of the command.
    """
    address = parse_address(uri)
    options = dict(address.options)
    for name, value in chosen.items():
        if name in options:
            continue
        try:
            check_options(ScorerAddress(address.kind, address.target, {name: value}), without=NOT_NAMED)
        except BadInput as error:
            errors.setdefault(PREFIX + name, f"{address.target}: {error}")
        options[name] = value
    if errors or options == address.options:
        return uri
    return checked_uri(written(ScorerAddress(address.kind, address.target, options)))
