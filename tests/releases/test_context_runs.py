"""Contexts of materials: from the imported file through a run, its cache, a release's file and the API."""

import html
import json
import re
from io import StringIO

import pandas as pd
import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.html import strip_tags

from analysis.scoring import score_sentences, scorer
from analysis.scoring.words.contexts import context_question
from experiments.models import Experiment, MaterialSet, Sentence
from experiments.operation import job_runner
from releases.comparison.compare import request_comparison
from releases.gold import storage
from releases.gold.study_facts import context_facts
from releases.material_frames import sentence_frame
from releases.models import CachedScore, SentenceScore
from releases.scoring import loaded_model
from releases.scoring.cost import compute_cost
from releases.scoring.runs import request_model_runs
from releases.scoring.shards import run_shards
from releases.scoring.surprisals import sentence_table
from releases.scoring.texts import scored_texts
from tests import cast
from tests.judgments.screens.walk import consent
from tests.releases.models_dir import URI
from tests.releases.scoring_runs import execute_run
from tests.releases.study import judged_study, ready_release

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
ROWS = """sentence_id,item,condition,expected,sentence,context
1g,1,good,acceptable,The keys 1 are here .,A key is there .
1b,1,bad,unacceptable,The keys 1 is here .,A key is there .
2g,2,good,acceptable,The keys 1 are here .,The keys 3
2b,2,bad,unacceptable,The keys 2 is here .,
"""


def imported(tmp_path, text: str = ROWS, *, name: str = "contexts", file: str = "contexts.csv", **options):
    (tmp_path / file).write_text(text, encoding="utf-8")
    call_command("import_materials", str(tmp_path / file), "--name", name, stdout=StringIO(), **options)
    return MaterialSet.objects.get(name=name)


def by_hand(folder, options=""):
    frame = pd.read_csv(folder, dtype=str).fillna("")
    return frame, score_sentences


def expected(materials, uri) -> dict[str, float]:
    frame = sentence_frame(materials)
    scores = score_sentences(scorer(uri), frame).frame
    return dict(zip(scores["sentence_id"], scores.iloc[:, 1], strict=True))


def stored(run) -> dict[str, float]:
    return dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))


def test_run_scores_sentences_after_the_contexts_of_their_file(tmp_path, models_dir):
    materials = imported(tmp_path)
    assert Sentence.objects.get(key="1g").context == "A key is there ."
    run = execute_run(request_model_runs(cast.study("s", materials=materials), [URI], user=cast.ada())[0])
    assert (run.state, run.n_distinct, run.n_missing) == ("done", 4, 0)
    by_library = expected(materials, f"arpa:{models_dir / 'bigram.arpa'}")
    assert stored(run) == pytest.approx(by_library)
    # "The" follows "." and "3": one text after two contexts is asked twice.
    assert stored(run)["1g"] != stored(run)["2g"]
    assert run.spec["options"]["context"] == "{context} {sentence}"


def test_scores_with_and_without_contexts_never_share_the_cache(tmp_path):
    study = cast.study("s", materials=imported(tmp_path))
    with_contexts, without = (
        execute_run(run) for run in request_model_runs(study, [URI, f"{URI}?context=ignore"], user=cast.ada())
    )
    assert with_contexts.scorer != without.scorer and CachedScore.objects.count() == 4 + 3
    assert "context" not in without.spec["options"] and stored(without)["1g"] == stored(without)["2g"]
    second_run = execute_run(request_model_runs(study, [URI], user=cast.ada())[0])
    assert second_run.n_cached == 4 and stored(second_run) == stored(with_contexts)


def test_shard_without_any_context_belongs_to_the_same_run(tmp_path, settings):
    settings.SHARD_SENTENCES = 1
    run = execute_run(
        request_model_runs(cast.study("s", materials=imported(tmp_path)), [URI], user=cast.ada())[0]
    )
    assert run.state == "done" and run_shards(run).count() == 4 and len(stored(run)) == 4


def test_cost_is_estimated_for_the_texts_with_their_contexts(tmp_path):
    study = cast.study("s", materials=imported(tmp_path))
    arguments = {"device": "cpu", "release": None, "study": study.slug, "materials": study.materials_id}
    cost = compute_cost(
        {**arguments, "models": [URI], "methods": ["lp"]}, progress=lambda n_done, total, text: None
    )
    assert cost["models"][0]["distinct"] == 4


def test_prompt_is_an_option_of_the_api_and_stored_in_the_run(tmp_path, client, models_dir):
    study = cast.study("s", materials=imported(tmp_path))
    client.force_login(cast.ada())
    prompt = "A%20key%20is%20there%20.%20%7Bsentence%7D"
    answer = client.post(
        f"/api/v1/studies/{study.slug}/model-runs/",
        json.dumps({"models": [f"{URI}?prompt={prompt}"]}),
        content_type="application/json",
    )
    assert answer.status_code == 202, answer.content
    from releases.models import ScoringRun

    run = execute_run(ScoringRun.objects.get())
    frame = sentence_frame(study.materials).assign(context="A key is there .")
    scores = score_sentences(scorer(f"arpa:{models_dir / 'bigram.arpa'}"), frame).frame
    assert stored(run) == pytest.approx(dict(zip(scores["sentence_id"], scores.iloc[:, 1], strict=True)))
    page = client.get(reverse("study-scoring-run", args=[study.slug, run.pk])).content.decode()
    assert "A key is there . {sentence}" in page


def test_wide_tables_and_blimp_lines_give_each_member_its_context(tmp_path):
    wide = (
        "pair_id,good,bad,context_good,context_bad\n"
        "p1,The piano is left of Ali .,The piano is left of Ali .,Ali is right of it .,Ali is left of it .\n"
    )
    materials = imported(tmp_path, wide, name="ewok")
    contexts = dict(materials.sentences.values_list("key", "attributes__context"))
    assert contexts == {"p1:good": "Ali is right of it .", "p1:bad": "Ali is left of it ."}
    codes = {finding["code"] for finding in materials.report["findings"]}
    assert not codes & {"identical_members", "same_string", "conflicting_status"}
    line = {"sentence_good": "We left.", "sentence_bad": "We leaved.", "context": "It rained.", "UID": "x"}
    blimp = imported(tmp_path, json.dumps(line) + "\n", name="lines", file="lines.jsonl")
    assert [sentence.context for sentence in blimp.sentences.all()] == ["It rained."] * 2


def test_identical_members_without_contexts_are_still_reported(tmp_path):
    materials = imported(tmp_path, "pair_id,good,bad\np1,We left .,We left .\n", name="same")
    assert "identical_members" in {finding["code"] for finding in materials.report["findings"]}


def test_a_failed_template_names_the_sentence(tmp_path):
    study = cast.study("s", materials=imported(tmp_path))
    loaded_model.forget()
    prompt = "Before%3A%20%7Bcontext%7D%20%7Bsentence%7D"
    run = request_model_runs(study, [f"{URI}?prompt={prompt}"], user=cast.ada())[0]
    job_runner.run(run.job_id)
    run.refresh_from_db()
    assert run.state == "failed" and "'2b' has no context" in run.error


def test_release_and_comparison_tell_whether_participants_saw_what_models_read(tmp_path, client):
    materials = imported(tmp_path)
    client.force_login(cast.ada())
    for shown, seen, note in (
        ("above", "which participants saw above it", "scored the sentences without the contexts that part"),
        ("hidden", "which participants were not shown", "read a context before each sentence that part"),
    ):
        study = judged_study(shown, people=3, materials=materials, task="likert", context_display=shown)
        runs = [
            execute_run(run)
            for run in request_model_runs(study, [URI, f"{URI}?context=ignore"], user=cast.ada())
        ]
        release = ready_release(study)
        methods = storage.read(release.storage_key, "methods.md").decode()
        assert f"3 sentences had a context, {seen}." in " ".join(methods.split())
        assert "A key is there ." in storage.read(release.storage_key, "sentences.csv").decode()
        comparison = request_comparison(release, runs, user=cast.ada())
        job_runner.run(comparison.job_id)
        comparison.refresh_from_db()
        contexts = comparison.report["contexts"]
        assert contexts["shown"] == shown and len(contexts["read_by"]) == len(contexts["not_read_by"]) == 1
        page = client.get(reverse("study-comparison", args=[study.slug, comparison.pk])).content.decode()
        assert note in page
    Experiment.objects.filter(slug="above").update(context_display="hidden")
    assert (
        context_facts(Experiment.objects.get(slug="above"))["shown"] == "above"
    )  # as its participants saw it


def test_models_read_the_words_that_are_on_the_page_of_participants(client, models_dir):
    materials = cast.material_set(n_items=1)
    contexts = {"context": "A: **Who** left,\n   a < b?\n\nB: No *idea*, 2**3.", "markup": ""}
    Sentence.objects.filter(material_set=materials).update(attributes=contexts)
    study = cast.study("s", materials=materials, task="likert", context_display="above", instructions="")
    page = client.get(consent(client, f"/take/{study.slug}/")).content.decode()
    lines = re.findall(r'<span class="turn">(.*?)</span>', page)
    words = "\n".join(html.unescape(strip_tags(line)) for line in lines)
    assert words == "A: Who left,\n   a < b?\n\nB: No *idea*, 2**3."
    model, sentences = scorer(f"arpa:{models_dir / 'bigram.arpa'}"), list(materials.sentences.all())
    texts = scored_texts("lp", sentences, model=model, is_in_context=True)
    assert texts[sentences[0].pk] == context_question(f"{words} ", sentences[0].text)
    assert set(sentence_frame(materials)["context"]) == {words}
    surprisals = sentence_table(sentences)
    assert set(surprisals["context"]) == {words}
