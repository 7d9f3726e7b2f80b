"""Prompts under a chat template: answers by log probability, both orders, local models, runs and records."""

import hashlib
import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from analysis.ngrams import train_model, write_arpa
from analysis.scoring import scorer
from analysis.scoring.judgment_prompts import PromptScorer, judgment_prompt, prompt_question
from tests.analysis.scoring.neural.conftest import byte_tokenizer, peaked, saved

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")

CHAT = (
    "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
GOOD, BAD = "The cat sleeps.", "The cat sleep."


@pytest.fixture(scope="session")
def chatty(tmp_path_factory):
    """A tiny causal model whose tokenizer has a chat template."""
    torch.manual_seed(20)
    config = transformers.GPT2Config(
        vocab_size=300, n_embd=24, n_layer=2, n_head=2, n_positions=512, bos_token_id=0, eos_token_id=1
    )
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = CHAT
    model = peaked(transformers.GPT2LMHeadModel(config))
    return saved(tmp_path_factory.mktemp("chatty"), model, tokenizer)


def by_hand(tiny, message, answer):
    """log P(answer | message) token after token."""
    text = f"<s>user: {message}\nassistant:"
    prompt, ending = (tiny.tokenizer(part, add_special_tokens=False)["input_ids"] for part in (text, answer))
    total = 0.0
    with torch.no_grad():
        for place, token in enumerate(ending):
            ids = torch.tensor([[*prompt, *ending[:place]]])
            total += float(torch.log_softmax(tiny.model(input_ids=ids).logits[0, -1].double(), -1)[token])
    return total


def prompt_scores(tiny, method, *questions, **options):
    return PromptScorer(scorer(tiny.address("hf-causal", **options)), method).score(list(questions)).logprob


def test_yes_or_no_is_the_mean_of_both_orders_of_the_answers(chatty):
    question = "Is the following sentence grammatically acceptable?\n\n{}\n\nAnswer with one word: {}."
    expected = [
        np.mean([
            by_hand(chatty, question.format(sentence, order), "Yes")
            - by_hand(chatty, question.format(sentence, order), "No")
            for order in ("Yes or No", "No or Yes")
        ])
        for sentence in (GOOD, BAD)
    ]  # fmt: skip
    scores = prompt_scores(chatty, "yes_no", prompt_question(GOOD), prompt_question(BAD))
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_rating_is_the_expected_rating_in_both_orders(chatty):
    question = judgment_prompt("rating").question.replace("{sentence}", GOOD)
    expected = []
    for order in ("1, 2, 3, 4, 5, 6 or 7", "7, 6, 5, 4, 3, 2 or 1"):
        message = question.replace("{answers}", order)
        weights = np.exp([by_hand(chatty, message, str(k)) for k in range(1, 8)])
        expected.append((weights * np.arange(1, 8)).sum() / weights.sum())
    assert prompt_scores(chatty, "rating", prompt_question(GOOD))[0] == pytest.approx(
        np.mean(expected), abs=1e-4
    )


def test_forced_choice_swaps_the_sentences_and_is_opposite_for_the_other_member(chatty):
    question = judgment_prompt("forced_choice").question.replace("{answers}", "A or B")
    log_odds = [
        by_hand(chatty, message, "A") - by_hand(chatty, message, "B")
        for message in (
            question.replace("{first}", GOOD).replace("{second}", BAD),
            question.replace("{first}", BAD).replace("{second}", GOOD),
        )
    ]
    expected = (log_odds[0] - log_odds[1]) / 2
    scores = prompt_scores(
        chatty, "forced_choice", prompt_question(GOOD, others=[BAD]), prompt_question(BAD, others=[GOOD])
    )
    np.testing.assert_allclose(scores, [expected, -expected], atol=1e-4)


def test_sentence_of_two_pairs_has_the_mean_of_its_choices(chatty):
    other = "Dogs sleep."
    mean, first, second = prompt_scores(
        chatty,
        "forced_choice",
        prompt_question(GOOD, others=[BAD, other]),
        prompt_question(GOOD, others=[BAD]),
        prompt_question(GOOD, others=[other]),
    )
    assert mean == pytest.approx((first + second) / 2, abs=1e-5)


def test_question_and_answers_can_be_written_and_braces_in_sentences_stay(chatty):
    options = {"question": "Gut%3F%20%7Bsentence%7D%20%7Banswers%7D", "answers": "Ja,Nein"}
    sentence = "A {first} set."
    messages = [f"Gut? {sentence} {order}" for order in ("Ja or Nein", "Nein or Ja")]
    expected = np.mean([by_hand(chatty, text, "Ja") - by_hand(chatty, text, "Nein") for text in messages])
    score = prompt_scores(chatty, "yes_no", prompt_question(sentence), **options)[0]
    assert score == pytest.approx(expected, abs=1e-4)
    with pytest.raises(BadInput, match="has no {first}"):
        prompt_scores(chatty, "forced_choice", prompt_question(sentence), **options)
    with pytest.raises(BadInput, match="no answers for yes_no"):
        judgment_prompt("yes_no", answers="Yes,Yes")


@pytest.mark.parametrize(
    ("method", "answers", "question", "message"),
    [
        ("yes_no", "No,Yes", "", "not the answer for yes"),
        ("rating", "7,6,5,4,3,2,1", "", "not the answer for the worst"),
        ("forced_choice", "B,A", "", "B is the name of {first}|A is the name of {second}|B is the name of"),
        ("forced_choice", "1,2", "Which? 2) “{first}” 1) “{second}” {answers}", "is the name of"),
    ],
)
def test_answers_in_an_order_that_would_turn_the_scores_are_refused(method, answers, question, message):
    with pytest.raises(BadInput, match=message):
        judgment_prompt(method, question=question, answers=answers)


def test_a_question_of_ones_own_may_ask_for_the_opposite():
    prompt = judgment_prompt("yes_no", question="Wrong? {sentence} {answers}", answers="No,Yes")
    assert prompt.answers == ("No", "Yes")
    choice = "Which? 1) “{first}” 2) “{second}” {answers}"
    assert judgment_prompt("forced_choice", question=choice, answers="1,2").answers == ("1", "2")


def test_context_comes_before_the_question_and_can_be_ignored(chatty):
    question = prompt_question(GOOD, context="It rained.")
    message = "Context: It rained.\n\n" + judgment_prompt("yes_no").question.replace("{sentence}", GOOD)
    expected = np.mean([
        by_hand(chatty, message.replace("{answers}", order), "Yes")
        - by_hand(chatty, message.replace("{answers}", order), "No")
        for order in ("Yes or No", "No or Yes")
    ])  # fmt: skip
    assert prompt_scores(chatty, "yes_no", question)[0] == pytest.approx(expected, abs=1e-4)
    alone = prompt_scores(chatty, "yes_no", prompt_question(GOOD))[0]
    assert prompt_scores(chatty, "yes_no", question, context="ignore")[0] == pytest.approx(alone, abs=1e-6)


def test_record_has_the_digest_of_the_chat_template(chatty):
    spec = PromptScorer(scorer(chatty.address("hf-causal")), "yes_no").spec
    assert spec.options["chat_template"] == hashlib.sha256(CHAT.encode()).hexdigest()
    assert (spec.method, spec.options["answers"], spec.options["orders"]) == (
        "yes_no",
        "Yes, No",
        "both, averaged",
    )
    other = PromptScorer(scorer(chatty.address("hf-causal", answers="True,False")), "yes_no").spec
    assert other.options["prompt"] != spec.options["prompt"] and other.spec_id != spec.spec_id


def test_models_that_cannot_be_asked_are_refused_by_name(causal, masked, tmp_path):
    write_arpa(train_model([["a", "b"]] * 3, order=2), tmp_path / "m.arpa")
    for uri, message in (
        (f"arpa:{tmp_path / 'm.arpa'}", "arpa: answers no questions"),
        (masked("bert").address("hf-masked"), "hf-masked: answers no questions"),
        (causal("gpt2").address("hf-causal"), "has no chat template"),
    ):
        with pytest.raises(BadInput, match=message):
            PromptScorer(scorer(uri), "rating")


def test_message_that_is_too_long_has_no_score(chatty):
    short, long = prompt_scores(chatty, "yes_no", prompt_question(GOOD), prompt_question("The cat " * 200))
    assert np.isfinite(short) and np.isnan(long)


def test_command_writes_prompts_beside_log_probabilities(chatty, tmp_path):
    (tmp_path / "sentences.csv").write_text(f"sentence_id,sentence\ng,{GOOD}\nb,{BAD}\nx,Dogs sleep.\n")
    (tmp_path / "pairs.csv").write_text("pair_id,good_id,bad_id\np,g,b\n")
    out = tmp_path / "out.csv"
    common = [
        "score",
        chatty.address("hf-causal"),
        "--sentences",
        str(tmp_path / "sentences.csv"),
        "--to",
        str(out),
    ]
    call_command(
        *common, "--method", "lp", "yes_no", "forced_choice", "--pairs", str(tmp_path / "pairs.csv"),
        "--name", "chat", stdout=StringIO(), stderr=StringIO(),
    )  # fmt: skip
    frame = pd.read_csv(out)
    assert list(frame.columns) == ["sentence_id", "chat:lp", "chat:yes_no", "chat:forced_choice"]
    assert frame["chat:yes_no"].notna().all() and frame["chat:forced_choice"].isna().tolist() == [
        False,
        False,
        True,
    ]
    content = json.loads(out.with_suffix(".spec.json").read_text())
    yes_no, choice = content["agreement"]
    assert (yes_no["direct"], yes_no["prompt"], yes_no["pairs"]) == ("chat:lp", "chat:yes_no", 1)
    assert sum(choice[name] for name in ("both", "direct_only", "prompt_only", "neither")) == 1
    record = content["prompts"]["yes_no"]
    assert record["chat_template"] == hashlib.sha256(CHAT.encode()).hexdigest()
    with pytest.raises(CommandError, match="forced_choice needs the pairs"):
        call_command(*common, "--method", "forced_choice", stdout=StringIO(), stderr=StringIO())


@pytest.mark.django_db
def test_runs_ask_about_sentences_and_pairs_of_the_materials(chatty, settings):
    from releases.scoring.runs import request_model_runs
    from tests import cast
    from tests.releases.scoring_runs import execute_run, stored

    settings.MODELS_DIR = chatty.folder.parent
    texts = ("Cats {n} sleep.", "Cats {n} sleeps.")
    study = cast.study("asked", materials=cast.material_set("asked", texts=texts))
    uri = f"hf-causal:./{chatty.folder.name}"
    yes, choice = (
        execute_run(run)
        for run in request_model_runs(study, [uri], methods=["yes_no", "forced_choice"], user=cast.ada())
    )
    assert (yes.state, choice.state) == ("done", "done"), (yes.error, choice.error)
    sentences = {sentence.key: sentence.words for sentence in study.materials.sentences.all()}
    expected = prompt_scores(chatty, "yes_no", *(prompt_question(text) for text in sentences.values()))
    assert stored(yes) == pytest.approx(dict(zip(sentences, expected, strict=True)), abs=1e-4)
    for pair in study.materials.pairs.all():
        assert stored(choice)[pair.good.key] == pytest.approx(-stored(choice)[pair.bad.key], abs=1e-4)
    assert yes.spec["options"]["chat_template"] and yes.scorer != choice.scorer
