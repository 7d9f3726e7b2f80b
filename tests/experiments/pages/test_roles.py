"""What a role may do, asked of every address a study has: viewers look, editors change, owners decide."""

from collections.abc import Iterator

import pytest
from django.apps import apps

from experiments.models import Experiment, Membership
from tests import cast
from tests.routes import path_of, routes

pytestmark = pytest.mark.django_db
STUDY = "studies/<slug:slug>/"
OF_ONES_OWN = {
    "study-copy",
    "api-copy",
    "study-team-remove",
}  # a new study of their own; oneself out of the team
VALUES = {"slug": "agreement", "name": "agreement", "form": "svg", "step": "pause"}
METHODS = ("post", "put", "patch", "delete")


def addresses() -> Iterator[tuple[str, str]]:
    """Name and path of everything under a study, pages and API, with ids that stand for any."""
    of_study = [(name, route) for name, route in routes() if STUDY in route]
    assert len(of_study) > 60
    yield from ((name, path_of(route, VALUES)) for name, route in of_study)


def everything() -> dict[str, list]:
    """Every row of the three sides."""
    return {
        model._meta.label: list(model.objects.order_by("pk").values())
        for side in ("experiments", "judgments", "releases")
        for model in apps.get_app_config(side).get_models()
    }


@pytest.fixture
def study():
    experiment = cast.study("agreement")
    cast.sit(experiment, "pia")
    Membership.objects.create(experiment=experiment, user=cast.cleo(), role=Membership.Role.EDITOR)
    experiment.lab = cast.lab(ada="manager", vera="viewer")
    experiment.save(update_fields=["lab"])
    return experiment


@pytest.mark.parametrize(
    ("user", "methods"),
    [pytest.param("ben", METHODS, id="viewer"), pytest.param("vera", ("post",), id="viewer of the lab")],
)
def test_no_address_of_a_study_lets_a_viewer_change_anything(client, study, user, methods):
    client.force_login(cast.user(user))
    before, answers = everything(), {}
    for name, path in addresses():
        if name not in OF_ONES_OWN:
            # Pages know forms only; what else their addresses do with a method is Django's.
            for method in methods if path.startswith("/api/") else methods[:1]:
                answers[method, path] = getattr(client, method)(
                    path, content_type="application/json"
                ).status_code
            answers["form", path] = client.post(path, {"username": "ben", "role": "owner"}).status_code
    looked = {200, 403, 404, 405}  # a page that only shows may be shown whatever the method
    assert {address: code for address, code in answers.items() if code not in looked} == {}
    forms = [code for (method, _), code in answers.items() if method == "form"]
    assert forms.count(403) > 25
    assert everything() == before


@pytest.mark.parametrize("is_logged_in", [True, False])
def test_no_address_of_a_study_reveals_anything_to_a_stranger(client, is_logged_in):
    study = cast.study("agreement", lab=cast.lab(ada="manager"))
    cast.lab("Phonetics lab", cleo="manager")
    cast.sit(study, "pia")
    if is_logged_in:
        client.force_login(cast.cleo())
    responses = {path: client.get(path) for _, path in addresses()}
    refused = {401, 403, 404, 405} if is_logged_in else {302, 401, 403, 404, 405}
    assert {
        path: response.status_code
        for path, response in responses.items()
        if response.status_code not in refused
    } == {}
    assert {response.url.split("?")[0] for response in responses.values() if response.status_code == 302} <= {
        "/accounts/login/"
    }
    assert [path for path, response in responses.items() if b"Study agreement" in response.content] == []


def test_a_viewer_sees_pages_without_a_form_that_changes_the_study(client, study):
    client.force_login(cast.ben())
    for page in (
        "",
        "settings/",
        "settings/texts/",
        "design/",
        "launch/",
        "channels/",
        "live/",
        "participants/",
        "team/",
        "exclusions/",
        "releases/",
    ):
        html = client.get(f"/studies/agreement/{page}").content.decode()
        forms = [part.split("</form>")[0] for part in html.split("<form")[1:]]
        changing = [form for form in forms if 'method="post"' in form and "<button" in form]
        permitted = ("/accounts/logout/", "/copy/", "/remove/")
        assert [form for form in changing if not any(path in form for path in permitted)] == [], page


def test_a_viewer_can_remove_only_their_own_membership(client, study):
    client.force_login(cast.ben())
    membership, other = study.memberships.get(user=cast.ben()), study.memberships.get(user=cast.cleo())
    assert client.post(f"/studies/agreement/team/{other.pk}/remove/").status_code == 403
    assert client.post(f"/studies/agreement/team/{membership.pk}/remove/", {"sure": "yes"}).url == "/"
    assert set(study.memberships.values_list("user__username", flat=True)) == {"ada", "cleo"}
    assert client.get("/studies/agreement/").status_code == 404


def test_an_editor_changes_the_study_and_the_audit_trail_names_them(client, study):
    client.force_login(cast.cleo())
    assert client.post("/studies/agreement/move/pause/").status_code == 302
    assert Experiment.objects.get().status == "paused"
    entry = study.audit.first()
    assert (entry.user, entry.experiment, entry.details["to"]) == (cast.cleo(), study, "paused")
    assert "cleo" in client.get("/studies/agreement/team/").content.decode()


def test_an_editor_can_neither_hand_the_study_over_nor_delete_it(client, study):
    client.force_login(cast.cleo())
    team = "/studies/agreement/team/"
    for username, role in (("cleo", "owner"), ("ben", "editor"), ("ada", "viewer")):
        assert client.post(team, {"username": username, "role": role}).status_code == 403
    ada = study.memberships.get(user=cast.ada())
    assert client.post(f"{team}{ada.pk}/remove/").status_code == 403
    assert client.delete("/api/v1/studies/agreement/").status_code == 405
    assert dict(study.memberships.values_list("user__username", "role")) == {
        "ada": "owner", "ben": "viewer", "cleo": "editor"
    }  # fmt: skip
    assert Experiment.objects.filter(pk=study.pk, owner=cast.ada()).exists()


def test_a_viewers_copy_is_their_own_and_leaves_the_study_as_it_is(client, study):
    client.force_login(cast.ben())
    before = Experiment.objects.filter(pk=study.pk).values().get()
    client.post("/studies/agreement/copy/")
    duplicate = Experiment.objects.exclude(pk=study.pk).get()
    assert duplicate.owner == cast.ben() and list(duplicate.memberships.values_list("role", flat=True)) == [
        "owner"
    ]
    assert Experiment.objects.filter(pk=study.pk).values().get() == before
