"""Each request of the two upload wizards decodes, reads and recognizes a file once at most."""

from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.module_loading import import_string

from experiments.models import Job

#: Counted functions, under the names by which they are called.
COUNTED = {
    "experiments.materials.encoding.decode": "decoded",
    "experiments.materials.delimited._parse": "read",
    "experiments.materials.readers.table.recognize_kind": "recognized",
    "experiments.pages.materials.upload.recognize_columns": "recognized",
    "judgments.imports.readers.table.recognize_columns": "recognized",
    "judgments.pages.import_views.recognize_columns": "recognized",
}
WIZARDS = {
    "/materials/upload/": (
        "files",
        b"item,condition,sentence,expected\n1,a,The keys are here.,1\n1,b,The keys is here.,0\n",
        {"name": "Keys", "language": "en", "format": "auto"},
    ),
    "/judgments/import/": (
        "file",
        b"participant,item,value\np1,i1,2\np1,i2,7\n",
        {"experiment": "Ratings", "format": "table"},
    ),
}


@pytest.fixture
def calls(monkeypatch):
    """Numbers of calls since the counter was cleared."""
    counter = Counter()

    def count(path, name):
        counted = import_string(path)

        def call(*args, **options):
            counter[name] += 1
            return counted(*args, **options)

        monkeypatch.setattr(path, call)

    for path, name in COUNTED.items():
        count(path, name)
    return counter


@pytest.mark.django_db
@pytest.mark.parametrize("address", WIZARDS)
def test_a_file_is_read_once_in_each_request(ada, settings, tmp_path, calls, address):
    settings.MEDIA_ROOT = tmp_path
    field, content, form = WIZARDS[address]
    preview = ada.post(address, {**form, field: SimpleUploadedFile("keys.csv", content)}).url
    assert not calls
    assert "report" in ada.get(preview).context
    assert calls == {"decoded": 1, "read": 1, "recognized": 1}
    calls.clear()
    assert ada.post(preview, {**form, "action": "import"}).url.startswith(("/materials/keys/", "/jobs/"))
    is_stored_now = not Job.objects.exists()
    assert calls == ({"decoded": 1, "read": 1, "recognized": 1} if is_stored_now else {"decoded": 1})
