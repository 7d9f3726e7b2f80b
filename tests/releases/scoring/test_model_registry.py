"""Where models come from: the hub by name, a folder, addresses that the administrator named."""

import pytest

from analysis.errors import BadInput
from releases.scoring import model_registry
from releases.scoring.model_registry import checked_uri, offered_models, pin_revision, resolved_uri
from tests.releases.models_dir import URI, folder_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
COMMIT = "a" * 40


@pytest.mark.parametrize(
    "name", ["gpt2", "EleutherAI/pythia-70m@main", "google-bert/bert-base-uncased@" + COMMIT]
)
def test_names_of_the_hub_are_taken(name):
    assert checked_uri(f" hf-causal:{name}?casing=lower ") == f"hf-causal:{name}?casing=lower"


def test_name_that_is_a_folder_of_the_server_is_refused():
    with pytest.raises(BadInput, match="file of the server"):
        resolved_uri("hf-causal:releases", device="cpu")


def test_folder_of_models_lists_kinds_and_confines_links(models_dir, tmp_path):
    folder_with(models_dir, "lab/gpt", "GPT2LMHeadModel")
    folder_with(models_dir, "llama", "LlamaForCausalLM")
    folder_with(models_dir, "bert", "BertForMaskedLM")
    folder_with(models_dir, "cola", "RobertaForSequenceClassification")
    folder_with(tmp_path, "outside", "GPT2LMHeadModel")
    (models_dir / "way-out").symlink_to(tmp_path / "outside")
    (models_dir / "lstm").mkdir()
    (models_dir / "lstm" / "model.pt").touch(), (models_dir / "lstm" / "vocab.txt").touch()
    (models_dir / "notes").mkdir()
    assert {model.uri for model in offered_models()} == {
        URI, "hf-causal:./lab/gpt", "hf-causal:./llama", "hf-masked:./bert", "hf-classifier:./cola",
        "lstm:./lstm",
    }  # fmt: skip
    with pytest.raises(BadInput, match="no model of MODELS_DIR"):
        resolved_uri("hf-causal:./way-out", device="cpu")
    assert resolved_uri("lstm:./lstm", device="gpu") == f"lstm:{models_dir.resolve()}/lstm?device=cuda"


def test_addresses_that_the_administrator_named_are_offered(settings):
    settings.MODEL_URIS = ["openai:http://127.0.0.1:8000/v1#tiny"]
    assert offered_models()[-1].uri == checked_uri(settings.MODEL_URIS[0])


def test_commit_takes_the_place_of_a_floating_revision():
    assert pin_revision("hf-causal:gpt2@main?casing=lower", f"commit:{COMMIT}") == (
        f"hf-causal:gpt2@{COMMIT}?casing=lower"
    )
    assert pin_revision(URI, "sha256:1") == URI
    assert model_registry.is_pinned(f"hf-causal:gpt2@{COMMIT}") and not model_registry.is_pinned(
        "hf-causal:gpt2@v1"
    )
