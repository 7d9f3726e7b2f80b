"""The beginning of a study."""

import pytest

from experiments.models import Experiment, Membership
from tests import cast

pytestmark = pytest.mark.django_db


def test_new_study_is_a_draft_that_its_maker_owns(client):
    client.force_login(cast.cleo())
    sent = {"title": "Île flottante!", "task": "likert", "materials": "", "language": "fr"}
    answer = client.post("/studies/new/", sent)
    study = Experiment.objects.get()
    assert answer.url == f"/studies/{study.slug}/settings/"
    assert (study.slug, study.status, study.task) == ("ile-flottante", "draft", "likert")
    assert study.memberships.get().role == Membership.Role.OWNER
    assert study.design.seed == study.seed


def test_two_studies_of_one_title_get_two_addresses(client):
    client.force_login(cast.cleo())
    for _ in range(2):
        client.post("/studies/new/", {"title": "Islands", "task": "likert", "language": "en"})
    assert set(Experiment.objects.values_list("slug", flat=True)) == {"islands", "islands-2"}


def test_a_design_in_a_title_stays_legible_in_the_address(client):
    client.force_login(cast.cleo())
    client.post("/studies/new/", {"title": "A 2×2 design", "task": "likert", "language": "en"})
    assert Experiment.objects.get().slug == "a-2x2-design"


def test_materials_of_strangers_cannot_be_chosen(client):
    hidden = cast.material_set("hidden")
    client.force_login(cast.cleo())
    sent = {"title": "Mine", "task": "likert", "language": "en", "materials": hidden.pk}
    assert client.post("/studies/new/", sent).status_code == 200
    assert not Experiment.objects.exists()


@pytest.mark.parametrize("language", ["", "english!", "e", "<b>"])
def test_language_has_to_be_a_tag(client, language):
    client.force_login(cast.cleo())
    client.post("/studies/new/", {"title": "Mine", "task": "likert", "language": language})
    assert not Experiment.objects.exists()


def test_a_new_study_begins_with_forced_choice_and_calls_no_list_optional(client):
    client.force_login(cast.ada())
    page = client.get("/studies/new/").content.decode()
    (chosen,) = [tag for tag in page.split("<input")[1:] if "checked" in tag.split(">")[0]]
    assert 'value="forced_choice"' in chosen
    assert "I will choose them later" in page and "optional" not in page
