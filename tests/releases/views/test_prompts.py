"""Models that were asked, beside their probabilities."""

import pytest
from django.urls import reverse

from releases.models import ScoringRun, SentenceScore
from releases.scoring.forms import ModelRunsForm
from tests import cast

pytestmark = pytest.mark.django_db
MODEL = "hf-causal:owner/asked"
# Of the good and the bad member of four pairs: lp is right three times, yes_no twice, both once.
SCORES = {
    "lp": [(-1, -2), (-1, -2), (-1, -2), (-2, -1)],
    "yes_no": [(1, 0), (0, 1), (0, 0), (1, 0)],
}


def add_run(study, method, *, model=MODEL, revision="a" * 40, pairs=SCORES):
    run = ScoringRun.objects.create(
        material_set=study.materials,
        name="asked",
        model=model,
        revision=revision,
        method=method,
        state="done",
        created_by=cast.ada(),
    )
    SentenceScore.objects.bulk_create(
        SentenceScore(run=run, sentence=sentence, score=score)
        for pair, scores in zip(study.materials.pairs.all(), pairs[method], strict=True)
        for sentence, score in zip((pair.good, pair.bad), scores, strict=True)
    )
    return run


def cells(response):
    """The rows of the page's tables, as text."""
    rows = response.content.decode().split("<tr>")[1:]
    return [
        [" ".join(part.partition(">")[2].split("<")[0].split()) for part in row.split("<td")[1:]]
        for row in rows
        if "<td" in row
    ]


def test_prompts_are_shown_beside_the_probabilities_of_the_same_model(ada):
    study = cast.study("agreement")
    direct, asked = add_run(study, "lp"), add_run(study, "yes_no", model=f"{MODEL}?question=%7Bsentence%7D")
    add_run(study, "lp", revision="b" * 40)  # another revision is another model
    response = ada.get(reverse("study-prompts", args=[study.slug]))
    assert cells(response) == [["4", "75.0 %", "50.0 %", "1", "0", "−0.50", "−0.52"]]
    for run in (direct, asked):
        assert reverse("study-scoring-run", args=[study.slug, run.pk]) in response.content.decode()
    study.materials.pairs.filter(key=study.materials.pairs.first().key).update(discard=True)
    assert cells(ada.get(reverse("study-prompts", args=[study.slug])))[0][0] == "3"


def test_page_of_prompts_leads_to_the_form_with_prompts_chosen(ada):
    study = cast.study("agreement")
    page = ada.get(reverse("study-prompts", args=[study.slug])).content.decode()
    address = f"{reverse('study-choose-models', args=[study.slug])}?prompts=yes"
    assert "No model has been asked yet" in page and f'href="{address}"' in page
    form = ada.get(address).context["form"]
    assert isinstance(form, ModelRunsForm)
    chosen = [widget.data["value"] for widget in form["methods"] if widget.data["selected"]]
    assert chosen == ["lp", "yes_no", "forced_choice"]
    assert (
        reverse("study-prompts", args=[study.slug])
        in ada.get(reverse("study-models", args=[study.slug])).content.decode()
    )
