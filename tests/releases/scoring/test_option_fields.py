"""Options of a model on the page and over the API: every one of the command, wrong ones told in its words."""

import re
from urllib.parse import parse_qsl

import pytest
from django.urls import reverse

from analysis.scoring import BUILT_IN
from analysis.scoring.model_uri import ModelURI, parse_model_uri
from analysis.scoring.registry import OPTIONS
from analysis.scoring.scorers import arpa, classifier, lstm, transformer
from experiments.models import Experiment, Job
from releases.scoring import execution, loaded_model
from releases.scoring.forms import FORM_KINDS, PREFIX, ModelRunsForm, form_options
from releases.scoring.model_registry import FORBIDDEN_OPTIONS, checked_uri, resolved_uri
from tests import cast
from tests.releases.models_dir import URI, write_bigram

pytestmark = pytest.mark.django_db
FILE = "./gpt2.unigrams.txt"


@pytest.fixture(autouse=True)
def models_dir(tmp_path, settings, monkeypatch):
    """A folder with a bigram and a file of single tokens; nobody is called to help."""
    settings.MODELS_DIR = tmp_path / "models"
    write_bigram(settings.MODELS_DIR)
    (settings.MODELS_DIR / FILE).write_text("-1\n")
    monkeypatch.setattr(execution, "request_helpers", lambda run, n: None)
    loaded_model.forget()
    yield settings.MODELS_DIR
    loaded_model.forget()


def form(**data) -> ModelRunsForm:
    study = Experiment.objects.filter(slug="agreement").first() or cast.study("agreement")
    return ModelRunsForm({"methods": ["lp"], **data}, experiment=study)


def options(uri: str) -> dict[str, str]:
    return dict(parse_qsl(uri.partition("?")[2]))


def test_page_offers_every_option_of_the_command():
    option_names = {option.name for kind in FORM_KINDS for option in OPTIONS[kind]} - set(FORBIDDEN_OPTIONS)
    assert option_names == set(form_options()) and {PREFIX + name for name in option_names} <= set(
        form().fields
    )
    assert set(FORM_KINDS) == set(BUILT_IN) - {"openai", "csv", "lm-eval", "minicons", "babylm"}


@pytest.mark.parametrize(
    ("kind", "module"),
    [("arpa", arpa), ("lstm", lstm), ("hf-causal", transformer), ("hf-masked", transformer),
     ("hf-classifier", classifier)],
)  # fmt: skip
def test_options_are_those_that_the_scorer_takes(kind, module, monkeypatch):
    parsed = []
    monkeypatch.setattr(module, "parse_options", lambda uri, options: parsed.append(options) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        BUILT_IN[kind](ModelURI(kind, "nowhere", {}))
    assert set(parsed[0]) == set(OPTIONS[kind])


def test_options_are_added_to_every_address_without_its_own():
    filled = form(hub="gpt2\nEleutherAI/pythia-70m@main?boundary=none", option_boundary="corrected",
                  option_vocabulary="tokenizer", option_unigram=FILE)  # fmt: skip
    assert filled.is_valid(), filled.errors
    first, other = filled.chosen()
    assert options(first) == {"boundary": "corrected", "vocabulary": "tokenizer", "unigram": FILE}
    assert options(other) == {"boundary": "none", "vocabulary": "tokenizer", "unigram": FILE}
    assert parse_model_uri(other).target == "EleutherAI/pythia-70m@main"
    assert form(hub="gpt2").is_valid() and form(models=[URI], option_casing="lower").is_valid()


def test_a_number_can_be_typed_and_defaults_are_shown():
    filled = form(hub="gpt2", option_temperature="1.3", option_samples="128")
    assert filled.is_valid(), filled.errors
    assert options(filled.chosen()[0]) == {"temperature": "1.3", "samples": "128"}
    assert "temperature" in str(form(hub="gpt2", option_temperature="hot").errors)
    fields = form().fields
    assert fields["option_temperature"].help_text.endswith("Default: 1.")
    assert fields["option_dtype"].choices[0] == ("", "default: float32")
    for name in ("bos", "casing"):  # n-gram models differ; trained models bring their own
        assert fields[f"option_{name}"].choices[0] == ("", "default of the model")


def test_single_tokens_come_from_the_folder_of_models_alone(models_dir):
    opened = resolved_uri(f"hf-causal:gpt2?unigram={FILE}", device="cpu")
    assert options(opened)["unigram"] == str((models_dir / FILE).resolve())
    for name in ("./other.unigrams.txt", "/etc/passwd", "./../secret.unigrams.txt", "unigrams.txt"):
        with pytest.raises(Exception, match="unigram probabilities in MODELS_DIR"):
            checked_uri(f"hf-causal:gpt2?unigram={name}")


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        (
            {"hub": "hf-masked:bert", "option_boundary": "corrected"},
            "boundary",
            "unknown option of hf-masked",
        ),
        ({"models": [URI], "option_vocabulary": "tokenizer"}, "vocabulary", "unknown option of arpa"),
        ({"hub": "gpt2", "option_method": "pll"}, "method", "unknown option of hf-causal"),
        ({"models": [URI], "option_bos": "eos"}, "bos", "must be yes or no"),
        ({"hub": "gpt2\nhf-masked:bert", "option_eos": "yes"}, "eos", "bert: unknown option of hf-masked"),
    ],
)
def test_wrong_combination_is_reported_at_its_field_in_the_commands_words(client, data, field, words):
    study = cast.study("agreement")
    client.force_login(cast.ada())
    answer = client.post(reverse("study-choose-models", args=[study.slug]), {"methods": ["lp"], **data})
    assert answer.status_code == 400 and not Job.objects.exists()
    assert words in str(answer.context["form"].errors[PREFIX + field])
    assert re.search(r'<details class="fold" open>\s*<summary>How sentences', answer.content.decode())


def test_api_takes_the_options_and_refuses_wrong_ones(client):
    study = cast.study("agreement")
    client.force_login(cast.ada())
    address = reverse("api-model-runs", args=[study.slug])
    body = {"models": [f"{URI}?casing=lower", "hf-causal:gpt2?boundary=corrected&vocabulary=tokenizer"]}
    answer = client.post(address, body, content_type="application/json")
    assert answer.status_code == 202 and [run["model"] for run in answer.json()] == body["models"]
    for wrong in (
        "hf-masked:bert?boundary=corrected",
        "hf-causal:gpt2?boundary=maybe",
        "hf-causal:gpt2?trust=yes",
    ):
        answer = client.post(address, {"models": [wrong]}, content_type="application/json")
        assert answer.status_code == 422 and "unknown" in answer.content.decode()
