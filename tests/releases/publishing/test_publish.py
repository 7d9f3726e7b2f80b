"""A release in each repository: sent once, verified, resumed after lost answers, made public by its owner."""

import io
import json
import zipfile

import pytest
from django.core.exceptions import PermissionDenied

from analysis.errors import BadInput
from experiments.models import AuditEntry, Job, Membership
from experiments.operation import job_runner
from releases.gold import storage
from releases.models import Publication
from releases.publishing.publish import preview, request_publication
from tests import cast
from tests.releases.study import ready_release
from tests.webhook_events import subscribed
from tools.doubles import repositories

pytestmark = pytest.mark.django_db
TARGET = {"huggingface": "my-lab/agreement"}
CREATES = {
    "zenodo": "POST /api/deposit/depositions",
    "osf": "POST /v2/nodes/",
    "huggingface": "POST /api/repos/create",
}


@pytest.fixture(autouse=True)
def _needs_the_package(request):
    if "huggingface" in request.node.name:
        pytest.importorskip("huggingface_hub", reason="an extra: make install-hub")


def publish(release, account, **options):
    """Ask for a publication and run its job."""
    target = TARGET.get(account.platform, "")
    publication = request_publication(release, account, target=target, by=cast.ada(), **options)
    return again(publication)


def again(publication):
    """Run the job now, perhaps after a failure that would delay it."""
    Job.objects.filter(pk=publication.job_id).update(retry_at=None)
    job_runner.run(publication.job_id)
    publication.refresh_from_db()
    return publication


def deposits(double):
    return len(double.depositions) + len(double.nodes) + len(double.datasets)


def files_of(double, publication):
    """The files of a deposit as the repository stores them."""
    if publication.place == "zenodo":
        return double.buckets[publication.deposit_id]
    if publication.place == "huggingface":
        return double.datasets[publication.target]["files"]

    def walk(number, folder=""):
        for child in double.entries[number]["children"]:
            entry = double.entries[child]
            if entry["kind"] == "file":
                yield f"{folder}{entry['name']}", entry["content"]
            else:
                yield from walk(child, f"{folder}{entry['name']}/")

    return dict(walk(publication.deposit_id))


@pytest.mark.parametrize("place", ["zenodo", "osf", "huggingface"])
def test_a_release_becomes_a_draft_with_the_frozen_bytes(release, double, connect, place):
    publication = publish(release, connect(place))
    assert publication.state == "done", (publication.error, double.requests)
    assert (publication.is_open, publication.is_public) == (False, False)
    assert publication.address.startswith(double.url) and publication.verified_at
    sent = files_of(double, publication)
    names = {file["path"] for file in release.manifest["files"]} | {"manifest.json"}
    flat = {name for name in names if "/" not in name}
    assert set(sent) - {".gitattributes"} == (flat | {"lm_eval.zip"} if place == "zenodo" else names)
    assert all(sent[name] == storage.read(release.storage_key, name) for name in flat)
    if place == "zenodo":
        tasks = zipfile.ZipFile(io.BytesIO(sent["lm_eval.zip"]))
        assert set(tasks.namelist()) == names - flat
    if place == "huggingface":
        assert double.datasets["my-lab/agreement"]["private"]
        assert publication.facts["revision"] == double.datasets["my-lab/agreement"]["commits"][-1]


@pytest.mark.parametrize("place", ["zenodo", "osf", "huggingface"])
def test_publishing_again_verifies_and_sends_nothing(release, double, connect, place):
    account = connect(place)
    first = publish(release, account)
    writes = [line for line in double.requests if not line.startswith("GET")]
    second = publish(release, account)
    assert second.pk == first.pk and second.state == "done"
    assert [line for line in double.requests if not line.startswith("GET")] == writes
    assert deposits(double) == 1


@pytest.mark.parametrize("place", ["zenodo", "osf", "huggingface"])
def test_a_lost_answer_makes_no_second_deposit(release, double, connect, place):
    method, path = CREATES[place].split()
    double.fail_next("after", method=method, path=path)
    publication = publish(release, connect(place))
    job = Job.objects.get(pk=publication.job_id)
    assert job.state == "queued" and "did not answer" in job.message and publication.deposit_id == ""
    assert again(publication).state == "done"
    assert deposits(double) == 1 and double.count(CREATES[place]) == 1


@pytest.mark.parametrize(("place", "path"), [("zenodo", "methods.md"), ("osf", "/osfstorage/")])
def test_an_upload_that_broke_off_continues_with_the_missing_files(release, double, connect, place, path):
    double.fail_next("before", method="PUT", path=path)
    publication = publish(release, connect(place))
    assert Job.objects.get(pk=publication.job_id).state == "queued" and publication.deposit_id
    stored, n_before = len(files_of(double, publication)), double.count("PUT ")
    assert again(publication).state == "done"
    assert double.count("PUT ") - n_before <= len(files_of(double, publication)) - stored + 1  # and a folder
    assert deposits(double) == 1


@pytest.mark.parametrize("place", ["zenodo", "osf", "huggingface"])
def test_a_file_that_arrived_damaged_is_no_success(release, double, connect, place):
    double.damages = True
    publication = publish(release, connect(place))
    assert publication.state == "sending"
    assert "another checksum than was sent" in Job.objects.get(pk=publication.job_id).message
    double.damages = False
    assert again(publication).state == "done"


@pytest.mark.parametrize("place", ["zenodo", "osf", "huggingface"])
def test_owners_make_a_draft_public_and_its_doi_is_written_back(release, double, connect, place):
    account = connect(place)
    draft = publish(release, account)
    before = storage.read(release.storage_key, "manifest.json")
    public = publish(release, account, is_public=True)
    assert public.pk == draft.pk and public.is_open and deposits(double) == 1
    if place != "huggingface":
        assert public.doi.startswith("10.5072/")
    assert storage.read(release.storage_key, "manifest.json") == before
    actions = list(
        AuditEntry.objects.filter(action__startswith="publication").values_list("action", flat=True)
    )
    assert sorted(actions) == ["publication started"] * 2 + ["publication verified"] * 2


def test_a_published_record_whose_answer_was_lost_is_published_once(release, double, connect):
    double.fail_next("after", method="POST", path="/actions/publish")
    publication = publish(release, connect("zenodo"), is_public=True)
    assert not publication.is_open and again(publication).is_open
    assert double.count("/actions/publish") == 1


def test_editors_send_drafts_and_only_owners_publish(release, connect):
    Membership.objects.create(experiment=release.experiment, user=cast.cleo(), role="editor")
    account = connect("zenodo")
    with pytest.raises(PermissionDenied):
        request_publication(release, account, is_public=True, by=cast.cleo())
    with pytest.raises(PermissionDenied):
        request_publication(release, account, by=cast.ben())
    assert request_publication(release, account, by=cast.cleo()).is_public is False


def test_a_wrong_token_ends_the_job_with_a_sentence_without_the_token(release, double, connect):
    token = "secret-that-the-repository-repeats"
    publication = publish(release, connect("zenodo", token=token))
    assert publication.state == "failed"
    assert "does not accept the token" in publication.error and token not in publication.error
    assert token not in str(list(Job.objects.values())) + str(list(AuditEntry.objects.values()))


def test_a_public_release_needs_a_licence_that_zenodo_knows(study, double, connect):
    study.materials.licence = "Ask the authors"
    study.materials.save(update_fields=["licence"])
    release = ready_release(study)
    account = connect("zenodo")
    with pytest.raises(BadInput, match="needs a licence that Zenodo knows"):
        request_publication(release, account, is_public=True, by=cast.ada())
    publication = publish(release, account)
    metadata = double.depositions[publication.deposit_id]["metadata"]
    assert metadata["access_right"] == "closed" and "license" not in metadata


def test_zenodo_gets_authors_licence_and_version(release, double, connect):
    metadata = double.depositions[publish(release, connect("zenodo")).deposit_id]["metadata"]
    assert metadata["creators"] == [{"name": "Lovelace, Ada"}]
    assert (metadata["license"], metadata["version"], metadata["upload_type"]) == (
        "cc-by-4.0",
        "1",
        "dataset",
    )


def test_the_next_release_is_a_new_version_of_the_record_with_its_own_files(study, release, double, connect):
    account = connect("zenodo")
    first = publish(release, account, is_public=True)
    files = [*release.manifest["files"], {"path": "old.csv", "bytes": 1, "sha256": ""}]
    type(release).objects.filter(pk=release.pk).update(manifest={**release.manifest, "files": files})
    double.buckets[first.deposit_id] |= {"old.csv": b"1", "by-hand.pdf": b"2"}
    second = ready_release(study, seed=7)
    draft = publish(second, account)
    assert draft.state == "done", (draft.error, double.requests)
    row = double.depositions[draft.deposit_id]
    assert row["concept"] == double.depositions[first.deposit_id]["concept"] and not draft.is_open
    assert row["metadata"]["version"] == "2" and "related_identifiers" not in row["metadata"]
    sent = files_of(double, draft)
    assert sent["manifest.json"] == storage.read(second.storage_key, "manifest.json")
    assert "old.csv" not in sent and "by-hand.pdf" in sent
    assert "old.csv" in files_of(double, first)  # a published version stays as it is
    public = publish(second, account, is_public=True)
    assert public.is_open and public.doi != first.doi
    assert public.facts["concept_doi"] == first.facts["concept_doi"] == f"10.5072/zenodo.{row['concept']}"
    assert double.count("POST /api/deposit/depositions") == 4  # created, two published, one new version


@pytest.mark.parametrize(("method", "path"), [("POST", "/actions/newversion"), ("PUT", "/depositions/")])
def test_a_lost_answer_makes_no_second_new_version(study, release, double, connect, method, path):
    account = connect("zenodo")
    publish(release, account, is_public=True)
    double.fail_next("after", method=method, path=path)
    publication = publish(ready_release(study, seed=7), account)
    assert Job.objects.get(pk=publication.job_id).state == "queued"
    assert again(publication).state == "done"
    assert len(double.depositions) == 2 and double.count("/actions/newversion") == 1


def test_the_draft_of_another_new_version_is_not_overwritten(study, release, double, connect):
    account = connect("zenodo")
    publish(release, account, is_public=True)
    second = publish(ready_release(study, seed=7), account)
    before = dict(files_of(double, second))
    third = publish(ready_release(study, seed=8), account)
    assert third.state == "failed" and "has the draft of another new version already" in third.error
    assert files_of(double, second) == before and len(double.depositions) == 2


def test_the_release_before_a_published_one_gets_a_record_of_its_own(study, release, double, connect):
    account = connect("zenodo")
    publish(ready_release(study, seed=7), account, is_public=True)
    late = publish(release, account)
    assert late.state == "done" and double.count("/actions/newversion") == 0
    assert len({row["concept"] for row in double.depositions.values()}) == 2


def test_a_record_that_this_account_may_not_continue_is_named_as_replaced(study, release, double, connect):
    account = connect("zenodo")
    first = publish(release, account, is_public=True)
    del double.depositions[first.deposit_id]
    second = publish(ready_release(study, seed=7), account)
    related = double.depositions[second.deposit_id]["metadata"]["related_identifiers"]
    assert [(row["identifier"], row["relation"]) for row in related] == [(first.doi, "isNewVersionOf")]
    live = connect("zenodo", mode="live")
    own = publish(ready_release(study, seed=8), live)
    assert "related_identifiers" not in double.depositions[own.deposit_id]["metadata"]  # the other is a test


def test_huggingface_has_one_dataset_whose_next_release_is_the_next_commit(study, release, double, connect):
    account = connect("huggingface")
    publish(release, account)
    double.datasets["my-lab/agreement"]["files"]["notes.txt"] = b"written by hand"
    second = ready_release(study, seed=7)
    publication = publish(second, account)
    dataset = double.datasets["my-lab/agreement"]
    assert publication.state == "done", (publication.error, double.requests)
    assert dataset["files"]["manifest.json"] == storage.read(second.storage_key, "manifest.json")
    assert len(dataset["commits"]) == 3 and "notes.txt" in dataset["files"]


def test_a_dataset_that_holds_something_else_on_huggingface_is_refused(release, double, connect):
    files = {".gitattributes": b"*", "train.csv": b"1"}
    double.datasets["my-lab/agreement"] = {"private": True, "files": files, "commits": ["0" * 40]}
    publication = publish(release, connect("huggingface"))
    assert (
        publication.state == "failed" and "holds other files already, such as train.csv" in publication.error
    )
    assert set(files) == {".gitattributes", "train.csv"}


def test_a_draft_is_not_sent_into_a_public_dataset_on_huggingface(release, double, connect):
    files = {".gitattributes": b"*"}
    double.datasets["my-lab/agreement"] = {"private": False, "files": files, "commits": ["0" * 40]}
    publication = publish(release, connect("huggingface"))
    assert publication.state == "failed" and "asked for as a draft" in publication.error
    assert set(files) == {".gitattributes"}


def test_tokens_stay_with_the_repository_whatever_its_answers_name(release, double, connect, monkeypatch):
    shown = double.deposition
    elsewhere = {"bucket": "http://elsewhere.example/bucket"}
    monkeypatch.setattr(
        double,
        "deposition",
        lambda number: {**(row := shown(number)), "links": {**row["links"], **elsewhere}},
    )
    publication = publish(release, connect("zenodo"))
    assert publication.state == "failed" and "another host (elsewhere.example)" in publication.error


def test_a_file_changed_in_storage_is_not_sent(release, double, connect):
    place = storage.release_storage().path(f"{release.storage_key}/methods.md")
    with open(place, "ab") as file:
        file.write(b"!")
    publication = publish(release, connect("zenodo"))
    assert publication.state == "failed" and publication.error.startswith("methods.md: was changed")
    assert deposits(double) == 0


def test_a_second_click_is_the_same_job(release, connect):
    account = connect("osf")
    first = request_publication(release, account, by=cast.ada())
    assert request_publication(release, account, by=cast.ada()).job_id == first.job_id
    assert Publication.objects.count() == 1


def test_the_preview_says_what_would_be_sent_and_sends_nothing(release, double):
    shown = preview(release, "zenodo", is_public=False)
    names = [name for name, _ in shown.files]
    assert "lm_eval.zip" in names and "pairs.jsonl" in names and shown.licence.startswith("Creative Commons")
    assert json.dumps(shown.as_dict()) and double.requests == []
    assert repositories.TOKEN not in str(shown)


def test_a_verified_publication_is_an_event_sent_once(release, double, connect):
    with subscribed(release.experiment, "release.published") as subscription:
        account = connect("zenodo")
        double.fail_next("after", method="POST", path="/actions/publish")
        publication = publish(release, account, is_public=True)
        assert subscription.data("release.published") == []  # not verified yet
        again(publication)
        again(publication)
        [data] = subscription.data("release.published")
    assert (data["release"], data["place"], data["is_public"]) == (1, publication.place_name, True)
    assert (data["address"], data["doi"]) == (publication.address, publication.doi)
    assert data["doi"].startswith("10.5072/")
