"""Contexts of materials on the settings and the launch checklist of a study."""

import pytest

from experiments.models import Experiment, Sentence
from experiments.studies.creation import create_study
from experiments.studies.lifecycle import snapshot
from experiments.studies.readiness import steps
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/{}/settings/study/"


def with_contexts(study: Experiment) -> Experiment:
    Sentence.objects.filter(material_set=study.materials).update(attributes={"context": "It rained."})
    return study


def line(study: Experiment):
    return next((step for step in steps(study) if step.key == "context"), None)


def test_the_checklist_says_whether_participants_see_the_contexts():
    study = cast.draft(practice=[{"options": [{"text": "a"}, {"text": "b"}]}])
    assert line(study) is None  # no sentence has one
    study = with_contexts(cast.draft("contexts"))
    hidden = line(study)
    assert not hidden.is_done and "participants do not see" in hidden.reason and not hidden.is_blocking
    study.context_display = Experiment.ContextDisplay.ABOVE
    assert line(study).is_done and "8 sentences have a context" in line(study).reason
    study.practice = [{"options": [{"text": "a"}, {"text": "b"}]}]
    Sentence.objects.filter(material_set=study.materials, condition="bad").update(attributes={})
    assert not line(study).is_done
    assert "Without one: 4 target sentences, 1 practice trial." in line(study).reason


def test_new_studies_show_contexts_and_their_versions_record_it():
    study = create_study(cast.ada(), title="New", task="likert", materials=cast.material_set())
    assert snapshot(study)["context_display"] == "above"
    study.context_display = "hidden"
    assert "context_display" not in snapshot(study)  # as versions frozen before the field


def test_researchers_choose_on_the_settings_where_there_are_contexts(client):
    client.force_login(cast.ada())

    study = with_contexts(cast.draft("contexts"))
    page = client.get(ADDRESS.format(study.slug))
    assert "Contexts of sentences" in page.content.decode()
    form = page.context["form"]
    data = {name: form[name].value() or "" for name in form.fields}
    answer = client.post(
        f"/studies/{study.slug}/settings/", {**data, "step": "study", "context_display": "above"}
    )
    study.refresh_from_db()
    assert (answer.status_code, study.context_display) == (302, "above")


def test_the_api_sets_whether_contexts_are_shown(client):
    client.force_login(cast.ada())
    kind = {"content_type": "application/json"}
    created = client.post("/api/v1/studies/", {"title": "New", "task": "likert"}, **kind)
    assert (created.status_code, created.json()["context_display"]) == (201, "above")
    address = f"/api/v1/studies/{created.json()['slug']}/"
    assert client.patch(address, {"context_display": "hidden"}, **kind).json()["context_display"] == "hidden"
    assert client.patch(address, {"context_display": "unknown"}, **kind).status_code in (400, 422)
