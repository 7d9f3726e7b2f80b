"""Options of model URIs are declared once: the parser, the form and the documentation use the declaration."""

from pathlib import Path

import pytest

from analysis.errors import BadInput, UnknownName
from analysis.scoring import BUILT_IN
from analysis.scoring.model_uri import ModelURI, parse_model_uri, parse_options
from analysis.scoring.registry import OPTIONS, check_options

PAGE = Path(__file__).parents[3] / "docs" / "models" / "scoring.md"


@pytest.mark.parametrize("kind", list(BUILT_IN))
def test_the_documentation_lists_every_option_with_its_values(kind):
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in rows if line.startswith(f"| `{kind}:")]
    listed = row.replace("\\|", "¦").split("|")[3].partition(";")[0]
    declared = ", ".join(f"`{option.usage}`" for option in OPTIONS[kind]).replace("|", "¦")
    assert listed.strip().startswith(declared)
    assert listed.count("=") == len(OPTIONS[kind])


@pytest.mark.parametrize("kind", list(BUILT_IN))
def test_every_declared_value_is_accepted_and_another_name_is_refused(kind):
    for option in OPTIONS[kind]:
        for value in option.values or (option.initial or "any",):
            check_options(ModelURI(kind, "model", {option.name: value}))
    with pytest.raises(UnknownName, match=f"unknown option of {kind} 'colour'"):
        check_options(ModelURI(kind, "model", {"colour": "red"}))


def test_defaults_are_filled_in_and_yes_or_no_is_normalized():
    options = parse_options(ModelURI("arpa", "model.arpa", {"eos": "False"}), OPTIONS["arpa"])
    assert (options["bos"], options["eos"], options["engine"]) == ("yes", "no", "auto")


@pytest.mark.parametrize("batch", ["0", "1001", "many", "²"])
def test_a_number_outside_its_limits_is_refused(batch):
    with pytest.raises(BadInput, match="batch must be a number from 1 to 1000"):
        check_options(ModelURI("openai", "http://host/v1#model", {"batch": batch}))


def test_a_model_uri_is_written_as_it_was_read():
    text = "hf-causal:gpt2@main?bos=none&unigram=.%2Fgpt2.unigrams.txt"
    assert str(parse_model_uri(text)) == text
