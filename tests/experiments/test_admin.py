"""The administration is for reading: nothing there edits what was observed."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db.models import FileField

from judgments.models import Judgment, Payment, PlatformIdentity, Session
from tests import cast
from tests.routes import path_of, routes

pytestmark = pytest.mark.django_db
OURS = [
    model
    for name in ("experiments", "judgments", "releases")
    for model in apps.get_app_config(name).get_models()
    if admin.site.is_registered(model)
]


@pytest.fixture
def superuser():
    return cast.user("root", is_staff=True, is_superuser=True)


def address(model, end=""):
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/{end}"


def test_every_list_opens_and_can_be_searched(client, superuser, subtests):
    cast.sit(cast.study("agreement"), external_id="5f1e")
    client.force_login(superuser)
    for model in OURS:
        with subtests.test(model.__name__):
            assert client.get(address(model)).status_code == 200
            assert client.get(address(model, "?q=agreement")).status_code == 200
            if row := model.objects.first():
                assert client.get(address(model, f"{row.pk}/change/")).status_code == 200


@pytest.mark.parametrize("model", [Judgment, Payment, PlatformIdentity], ids=lambda model: model.__name__)
def test_observed_data_cannot_be_edited(client, superuser, model):
    cast.sit(cast.study("agreement"), external_id="5f1e")
    client.force_login(superuser)
    assert client.get(address(model, "add/")).status_code == 403
    if row := model.objects.first():
        assert client.post(address(model, f"{row.pk}/change/"), {"response": "x"}).status_code == 403
        assert client.post(address(model, f"{row.pk}/delete/"), {"post": "yes"}).status_code == 403
        assert model.objects.filter(pk=row.pk).exists()


def test_the_administration_takes_no_file():
    for model, site in admin.site._registry.items():
        if any(isinstance(field, FileField) for field in model._meta.fields):
            assert not site.has_add_permission(None) and not site.has_change_permission(None), model


def test_the_vault_opens_to_superusers_only(client):
    cast.sit(cast.study("agreement"), external_id="5f1e-secret")
    staff = cast.user("staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.all())
    client.force_login(staff)
    assert client.get(address(PlatformIdentity)).status_code == 403
    assert "Platform identities" not in client.get("/admin/").content.decode()
    page = client.get(address(Judgment))
    assert page.status_code == 200 and "5f1e-secret" not in page.content.decode()


def test_the_administration_has_the_door_of_the_rest_with_its_second_factor(client, superuser):
    response = client.get("/admin/")
    assert client.get(response.url).url == "/accounts/login/?next=%2Fadmin%2F"
    client.force_login(cast.ada())
    refused = client.get("/admin/", follow=True)
    assert refused.status_code == 403 and "for administrators" in refused.content.decode()
    client.force_login(superuser)
    assert "Administration of Obelus" in client.get("/admin/").content.decode()


PLATFORM_ID = "5f1e-secret"


@pytest.fixture
def staff():
    staff = cast.user("staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.all())
    return staff


def test_staff_find_no_platform_id_by_search_or_filter(client, staff, subtests):
    """A filter in the address tells by its number of rows whether an id begins with some letters."""
    study = cast.study("agreement")
    session = cast.sit(study, external_id=PLATFORM_ID)
    Session.objects.filter(pk=session.pk).update(external_id=f"S-{PLATFORM_ID}")
    client.force_login(staff)
    secret = {"external_id", "token", "external_digest", "digest", "parameters", "entered_code"}
    for model in OURS:
        with subtests.test(model.__name__):
            response = client.get(address(model, f"?q={PLATFORM_ID}"))
            if response.status_code != 403:
                assert response.context["cl"].result_count == 0
            for field in secret & {field.name for field in model._meta.concrete_fields}:
                refused = client.get(address(model, f"?{field}__startswith=S"))
                assert refused.status_code in {302, 400, 403}, field
            assert client.get(address(model, "?session__external_id__startswith=S")).status_code != 200
            if row := model.objects.first():
                page = client.get(address(model, f"{row.pk}/change/")).content.decode()
                assert PLATFORM_ID not in page and session.token not in page


def test_staff_read_no_platform_id_on_any_page_of_a_study(client, staff):
    study = cast.study("agreement")
    session = cast.sit(study, external_id=PLATFORM_ID)
    values = {"slug": "agreement", "participant_id": str(session.participant_id), "form": "svg", "name": "x"}
    client.force_login(staff)
    for _, route in routes():
        if "studies/<slug:slug>/" in route:
            path = path_of(route, values)
            response = client.get(path, {"q": PLATFORM_ID, "ids": "yes", "columns": "all"})
            parts = response.streaming_content if response.streaming else [response.content]
            body = b"".join(parts).decode(errors="replace").replace(f'value="{PLATFORM_ID}"', "")
            assert PLATFORM_ID not in body.replace(f"q={PLATFORM_ID}", ""), path
    assert client.get("/studies/agreement/campaigns/payments/accounting.csv?ids=yes").status_code in {
        403,
        404,
    }
