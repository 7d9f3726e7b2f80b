"""The command and the page that make a paper's document."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from experiments.models import Job
from experiments.operation import job_runner
from tests import cast
from tests.releases.papers import data


def test_the_command_prints_its_progress_and_writes_a_folder_once(tmp_path, capsys):
    folder = data.li_adger(tmp_path / "data")
    call_command("reproduce", "adc", data=folder, to=tmp_path / "out")
    text = capsys.readouterr()
    assert "14/14" in text.err and "bring" in text.out
    assert "Table 3" in (tmp_path / "out/reproduction.html").read_text()
    call_command("reproduce", "adc", data=folder, to=tmp_path / "out", json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["paper"] == "adc" and not document["written"]
    with pytest.raises(CommandError, match="no such folder of data"):
        call_command("reproduce", "adc", data=tmp_path / "none", to=tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.django_db
def test_the_page_makes_a_document_in_a_job_and_offers_it(client, tmp_path, settings):
    settings.PAPERS_DATA = data.li_adger(tmp_path / "data")
    client.force_login(cast.ada())
    address = reverse("papers")
    assert address in client.get(reverse("home")).content.decode()
    assert client.post(address, {"paper": "adc"}).status_code == 302
    job_runner.run(Job.objects.get(kind="releases.reproduce").pk)
    job = Job.objects.get(kind="releases.reproduce")
    assert job.state == Job.State.DONE, job.error
    page = client.get(address).content.decode()
    assert "numbers equal as printed" in page and "li-adger/li-adger_min_pairs" not in page
    document = client.get(reverse("paper-file", args=[job.pk, "reproduction.html"]))
    assert b"Table 3" in document.content and "sandbox" in document["Content-Security-Policy"]
    content = client.get(reverse("paper-file", args=[job.pk, "all-files.zip"])).getvalue()
    assert "reproduction-adc/differences.csv" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert client.get(reverse("paper-file", args=[job.pk, "absent.csv"])).status_code == 404
    assert client.post(address, {"paper": "none"}).status_code == 400
