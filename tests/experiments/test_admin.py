"""The administration is for reading: nothing there edits what was observed."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission

from judgments.models import Judgment, Payment, PlatformIdentity
from tests import cast

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


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_list_opens_and_can_be_searched(client, superuser, model):
    cast.sit(cast.study("agreement"), external_id="5f1e")
    client.force_login(superuser)
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
