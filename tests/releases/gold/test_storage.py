"""A release stands whole or not at all: on disk, on a full disk, and in S3."""

import errno
import io
import os
import resource
import zipfile

import pytest
from django.core.files.storage import FileSystemStorage, Storage
from storages.backends.s3 import S3Storage

from analysis.errors import BadInput
from releases.gold import storage
from tools.doubles import s3

FILES = {
    "pairs.csv": b"pair_id\n1\n",
    "sentences.csv": "sentence\nnaïve\n".encode(),
    "manifest.json": b'{"format": "x"}\n',
}
OTHER = {**FILES, "manifest.json": b'{"format": "y"}\n'}


@pytest.fixture
def folder_storage(tmp_path):
    """A folder for releases."""
    return FileSystemStorage(location=tmp_path / "releases")


@pytest.fixture
def bucket(monkeypatch):
    """A real S3 API on loopback."""
    with s3.running(monkeypatch) as double:
        yield S3Storage(**double.storage("lab")["OPTIONS"])


def names_in(place) -> list[str]:
    """Everything that lies under the folder of releases."""
    root = place.location
    return sorted(
        os.path.relpath(os.path.join(at, name), root) for at, _, files in os.walk(root) for name in files
    )


def test_release_is_stored_and_read_back(folder_storage):
    assert storage.store("study/1", FILES, storage=folder_storage)
    assert storage.read("study/1", "sentences.csv", storage=folder_storage) == FILES["sentences.csv"]


def test_same_release_again_is_fine_and_another_is_refused(folder_storage):
    storage.store("study/1", FILES, storage=folder_storage)
    assert storage.store("study/1", FILES, storage=folder_storage) is False
    with pytest.raises(BadInput, match="never overwritten"):
        storage.store("study/1", OTHER, storage=folder_storage)
    assert storage.read("study/1", "manifest.json", storage=folder_storage) == FILES["manifest.json"]


def test_full_disk_leaves_no_half_release(folder_storage):
    """The kernel's own file-size limit stands for the full disk."""
    large = {**FILES, "judgments.csv": b"x" * 200_000}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(BadInput, match="no space is left.*Nothing was left behind"):
            storage.store("study/1", large, storage=folder_storage)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names_in(folder_storage) == []
    assert storage.store("study/1", large, storage=folder_storage)


def test_empty_folder_is_filled_and_a_file_in_its_place_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert storage.write_folder(tmp_path / "empty", FILES)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput, match="something else"):
        storage.write_folder(tmp_path / "file", FILES)
    assert (tmp_path / "file").read_text() == "mine"


def test_release_in_s3_ends_with_its_manifest(bucket):
    assert storage.store("study/1", FILES, storage=bucket)
    assert storage.store("study/1", FILES, storage=bucket) is False
    for name, content in FILES.items():
        assert storage.read("study/1", name, storage=bucket) == content
    with pytest.raises(BadInput, match="never overwritten"):
        storage.store("study/1", OTHER, storage=bucket)
    listed = bucket.connection.meta.client.list_objects_v2(Bucket=s3.BUCKET)["Contents"]
    assert sorted(entry["Key"] for entry in listed) == sorted(f"lab/study/1/{name}" for name in FILES)


class FullStorage(Storage):
    """A remote storage with room for two files."""

    def __init__(self):
        self.held: dict[str, bytes] = {}

    def _save(self, name, content):
        if len(self.held) >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.held[name] = content.read()
        return name

    def exists(self, name):
        return name in self.held

    def delete(self, name):
        self.held.pop(name, None)


def test_full_remote_storage_keeps_nothing():
    place = FullStorage()
    with pytest.raises(BadInput, match="no space is left"):
        storage.store("study/1", FILES, storage=place)
    assert place.held == {}


def test_zip_is_the_same_each_time_and_opens(folder_storage):
    storage.store("study/1", FILES, storage=folder_storage)
    archives = [
        b"".join(storage.zip_chunks("study/1", list(FILES), folder="study-1", storage=folder_storage))
        for _ in range(2)
    ]
    assert archives[0] == archives[1]
    with zipfile.ZipFile(io.BytesIO(archives[0])) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [f"study-1/{name}" for name in sorted(FILES)]
        assert archive.read("study-1/sentences.csv") == FILES["sentences.csv"]
