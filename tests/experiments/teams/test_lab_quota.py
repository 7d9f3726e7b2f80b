"""Uploads for a lab's studies count towards the lab's quota, whoever of its members sends them."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from experiments.models import Upload
from tests import cast

pytestmark = pytest.mark.django_db
LIMIT = 500_000


@pytest.fixture
def lab(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    lab = cast.lab(ada="manager", emil="editor", vera="viewer")
    cast.study("agreement", lab=lab)
    cast.study("alone")
    lab.upload_quota_bytes = LIMIT
    lab.save(update_fields=["upload_quota_bytes"])
    return lab


def send_judgments(client, name, study):
    client.force_login(cast.user(name))
    file = SimpleUploadedFile("judgments.csv", b"participant,item,condition,value\n".ljust(300_000, b"\n"))
    return client.post("/judgments/import/", {"file": file, "experiment": study, "format": "table"})


def send_materials(client, name, **fields):
    client.force_login(cast.user(name))
    file = SimpleUploadedFile("materials.csv", b"item,sentence\n1,A cat.\n".ljust(300_000, b"\n"))
    return client.post("/materials/upload/", {"files": file, "name": "Cats", "language": "en", **fields})


def test_members_share_the_quota_of_their_lab(client, lab, settings):
    settings.UPLOAD_QUOTA_BYTES = 400_000
    assert send_judgments(client, "ada", "agreement").status_code == 302
    assert Upload.objects.get().lab == lab
    refused = send_judgments(client, "emil", "Study agreement").content.decode()
    assert "unfinished uploads of Syntax lab would exceed" in refused
    assert send_judgments(client, "ada", "alone").status_code == 302  # her own quota is untouched
    assert "your unfinished uploads" in send_judgments(client, "ada", "alone").content.decode()
    assert Upload.objects.count() == 2


def test_materials_count_towards_a_lab_that_is_chosen(client, lab):
    assert send_materials(client, "emil", lab="syntax-lab").status_code == 302
    assert Upload.objects.get().lab == lab and "lab" not in Upload.objects.get().options
    assert "Syntax lab would exceed" in send_materials(client, "ada", lab="syntax-lab").content.decode()
    assert (
        send_materials(client, "vera", lab="syntax-lab").status_code == 302
    )  # a viewer adds nothing to a lab
    assert Upload.objects.get(owner=cast.user("vera")).lab is None


def test_a_lab_without_a_number_of_its_own_has_that_of_the_setting(client, lab, settings):
    settings.LAB_UPLOAD_QUOTA_BYTES = 100
    lab.upload_quota_bytes = None
    lab.save(update_fields=["upload_quota_bytes"])
    assert "Syntax lab would exceed" in send_judgments(client, "ada", "agreement").content.decode()


def test_quotas_are_shown_where_files_are_uploaded_and_on_the_lab(client, lab):
    send_judgments(client, "ada", "agreement")
    for path in ("/materials/upload/", "/judgments/import/", "/labs/syntax-lab/"):
        page = client.get(path).content.decode().replace("\xa0", " ")
        assert "293.0 KB of 488.3 KB" in page, path
    assert "your own" in client.get("/judgments/import/").content.decode()


def test_an_administrator_sets_the_quota_and_the_history_of_the_lab_says_so(client, lab):
    client.force_login(cast.user("root", is_staff=True, is_superuser=True))
    formset = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}
    client.post(f"/admin/experiments/lab/{lab.pk}/change/", {"upload_quota_bytes": 7, **formset})
    assert lab.audit.get().details["values"] == {"upload quota in bytes": {"old": LIMIT, "new": 7}}
