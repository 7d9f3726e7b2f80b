"""Where models come from: the hub by name, a folder, addresses that the administrator named."""

from pathlib import Path

import pytest

from analysis.errors import BadInput
from releases.scoring import model_registry
from releases.scoring.model_registry import checked_uri, offered_models, pin_revision, resolved_uri
from tests import cast
from tests.releases.models_dir import URI, folder_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
COMMIT = "a" * 40


@pytest.mark.parametrize(
    "name", ["gpt2", "EleutherAI/pythia-70m@main", "google-bert/bert-base-uncased@" + COMMIT]
)
def test_names_of_the_hub_are_taken(name):
    assert checked_uri(f" hf-causal:{name}?casing=lower ") == f"hf-causal:{name}?casing=lower"


def test_no_answer_depends_on_what_exists_on_the_server(tmp_path, monkeypatch, ada):
    study = cast.study("agreement")
    (tmp_path / "there" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    texts = [
        "{}@sub,other",
        "{}@a,b",
        "{}@sub",
        "{}",
        "../{}@sub,x",
        f"{tmp_path}/{{}}@sub,x",
        "x" * 300 + "{}",
    ]

    def answers(text):
        uri = f"hf-causal:{text}"
        page = ada.post(
            f"/studies/{study.slug}/models/choose/", {"hub": uri, "methods": ["lp"], "device": "cpu"}
        )
        runs = ada.post(
            f"/api/v1/studies/{study.slug}/model-runs/", {"models": [uri]}, content_type="application/json"
        )
        errors = page.context["form"].errors.as_text() if page.context else "estimated"
        refusal = runs.json() if runs.status_code >= 400 else ""
        return page.status_code, errors, runs.status_code, refusal

    for text in texts:
        there, gone = answers(text.format("there")), answers(text.format("gone_"))
        assert str(there).replace("there", "gone_") == str(gone), text
        assert there[0] < 500 and there[2] < 500, text


def test_a_model_of_the_hub_is_opened_where_no_file_of_the_server_has_its_name(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    for uri, is_away in (
        ("hf-causal:there", True),
        ("hf-causal:there@main", True),
        ("hf-causal:gpt2", False),
    ):
        with model_registry.without_local_files(uri):
            assert (Path.cwd() != tmp_path) == is_away and Path("there").exists() != is_away, uri
    assert Path.cwd() == tmp_path


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
