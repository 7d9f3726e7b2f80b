"""The pages and the command of publishing: who may, what is shown before, what the release shows after."""

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command

from experiments.models import Membership, PlatformAccount
from experiments.operation import job_runner
from judgments.recruitment.credentials import decrypt_secrets
from releases.models import Publication
from tests import cast
from tests.releases.study import ready_release
from tools.doubles.repositories import TOKEN

pytestmark = pytest.mark.django_db
RELEASE = "/studies/agreement/releases/1/"
PAGE = f"{RELEASE}publish/"
REPOSITORIES = "/studies/agreement/repositories/"


def text_of(response):
    return response.content.decode()


def run_command(*arguments):
    out = io.StringIO()
    call_command("publish", *arguments, stdout=out)
    return out.getvalue()


def test_an_owner_sees_what_would_be_sent_sends_it_and_finds_it_on_the_release(ada, release, double, connect):
    account = connect("zenodo")
    choice = {"account": account.pk, "visibility": "public"}
    shown = text_of(ada.get(PAGE, choice))
    assert "Zenodo sandbox: zenodo" in shown and "lm_eval.zip" in shown and "Lovelace, Ada" in shown
    assert "Creative Commons Attribution 4.0" in shown and "Publish for everybody" in shown
    assert double.requests == []
    assert ada.post(PAGE, choice).url == RELEASE
    job_runner.run(Publication.objects.get().job_id)
    page = text_of(ada.get(RELEASE))
    assert f'href="{double.url}/records/101"' in page and "10.5072/zenodo.101" in page
    assert "Cite as: Lovelace, Ada" in page
    assert "publication verified" in text_of(ada.get("/studies/agreement/team/")).lower()


def test_an_owner_publishes_the_draft_from_the_release_after_reading_that_it_stays(
    client, ada, release, double, connect
):
    choice = {"account": connect("zenodo").pk, "visibility": "draft"}
    ada.post(PAGE, choice)
    job_runner.run(Publication.objects.get().job_id)
    shown = text_of(ada.get(RELEASE))
    link = f"{PAGE}?account={choice['account']}&amp;target=&amp;visibility=public"
    assert link in shown
    page = text_of(ada.get(link.replace("&amp;", "&")))
    assert "Publish this draft for good" in page and "A public deposit of Zenodo stays for good." in page
    assert f"{double.url}/uploads/101" in page and double.count("publish") == 0
    ada.post(PAGE, {**choice, "visibility": "public"})
    job_runner.run(Publication.objects.get().job_id)
    shown = text_of(ada.get(RELEASE))
    assert "Publish this draft" not in shown and "all versions: 10.5072/zenodo.9101" in shown
    assert double.count("/actions/publish") == 1 and len(double.depositions) == 1


def test_only_owners_are_offered_to_publish_a_draft(client, ada, release, double, connect):
    ada.post(PAGE, {"account": connect("zenodo").pk, "visibility": "draft"})
    job_runner.run(Publication.objects.get().job_id)
    Membership.objects.create(experiment=release.experiment, user=cast.cleo(), role="editor")
    client.force_login(cast.cleo())
    shown = text_of(client.get(RELEASE))
    assert "Verify again" in shown and "Publish this draft" not in shown


def test_editors_cannot_choose_public_and_a_forged_choice_is_refused(client, release, connect):
    Membership.objects.create(experiment=release.experiment, user=cast.cleo(), role="editor")
    account = connect("zenodo")
    client.force_login(cast.cleo())
    page = text_of(client.get(PAGE))
    assert "Only owners of the study make a release public." in page and 'value="public"' not in page
    assert client.post(PAGE, {"account": account.pk, "visibility": "public"}).status_code == 400
    assert client.post(PAGE, {"account": account.pk, "visibility": "draft"}).status_code == 302
    assert Publication.objects.get().is_public is False


def test_viewers_and_strangers_cannot_open_the_page_and_viewers_see_the_outcome(client, release, connect):
    connect("zenodo")
    client.force_login(cast.ben())
    assert client.get(PAGE).status_code == 403 and client.post(PAGE).status_code == 403
    assert PAGE not in text_of(client.get(RELEASE))
    assert "Connect Zenodo" not in text_of(client.get(REPOSITORIES))
    assert client.post(f"{REPOSITORIES}add/zenodo/", {"token": TOKEN}).status_code == 403
    client.force_login(cast.cleo())
    assert {client.get(path).status_code for path in (PAGE, REPOSITORIES)} == {404}
    client.logout()
    assert client.get(PAGE).status_code == 302


def test_an_account_of_another_study_cannot_be_named(ada, release, double, connect):
    account = connect("zenodo")
    account.experiments.set([cast.draft("islands")])
    assert ada.post(PAGE, {"account": account.pk, "visibility": "draft"}).status_code == 400
    assert Publication.objects.count() == 0


def test_a_dataset_needs_a_name(ada, release, connect):
    account = connect("huggingface", mode="live")
    for name in ("", "agreement", "../x", "a/b/c", "lab/<b>"):
        page = text_of(ada.get(PAGE, {"account": account.pk, "visibility": "draft", "target": name}))
        assert "Write ORG/NAME" in page and "What would be sent" not in page


def test_a_token_is_tested_stored_encrypted_and_never_shown(ada, study, double):
    form = {"label": "Lab", "mode": "test", "token": TOKEN}
    page = text_of(ada.post(f"{REPOSITORIES}add/osf/", form, follow=True))
    assert "“Lab” is connected as Ada Lab." in page and TOKEN not in page and TOKEN[-4:] in page
    account = PlatformAccount.objects.get()
    assert decrypt_secrets(account)["token"] == TOKEN and TOKEN.encode() not in bytes(account.secrets)
    recruiters = text_of(ada.get("/studies/agreement/campaigns/accounts/")).split("Accounts of this")[1]
    assert re.search(r"\bLab\b", recruiters) is None
    wrong = text_of(ada.post(f"{REPOSITORIES}{account.pk}/token/", {"token": "x" * 20}, follow=True))
    assert "does not accept the token" in wrong
    assert "is removed" in text_of(ada.post(f"{REPOSITORIES}{account.pk}/remove/", follow=True))
    assert PlatformAccount.objects.count() == 0


def test_the_api_previews_sends_and_lists_and_only_owners_publish_by_it(client, release, double, connect):
    connect("osf")
    path = f"/api/v1/studies/agreement/releases/{release.number}/publications/"
    writing = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.ada(), scopes=('read', 'write'))}"}

    def post(address, body, **headers):
        return client.post(address, body, content_type="application/json", **(headers or writing))

    shown = post(f"{path}preview/", {"account": "osf"}).json()
    assert shown["bytes"] == sum(row["bytes"] for row in shown["files"]) and double.requests == []
    assert post(path, {"account": "wrong"}).json()["code"] == "unknown_name"
    sent = post(path, {"account": "osf"})
    assert sent.status_code == 202 and sent.json()["state"] == "sending"
    job_runner.run(sent.json()["job"])
    row = client.get(path, **writing).json()["results"][0]
    assert (row["state"], row["is_open"], row["mode"]) == ("done", False, "test")
    assert row["address"].startswith(double.url)
    Membership.objects.filter(user=cast.ben()).update(role="editor")
    bens = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.ben(), scopes=('read', 'write'))}"}
    assert post(path, {"account": "osf", "is_public": True}, **bens).status_code == 403
    assert post(path, {"account": "osf"}, **bens).status_code == 202


def test_the_command_says_what_would_be_sent_then_sends_it(release, double, tmp_path):
    shown = json.loads(run_command("agreement/1", "--to", "zenodo", "--dry-run", "--json"))
    assert shown["sent"] is False and shown["visibility"] == "draft" and double.requests == []
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    sent = json.loads(run_command("agreement", "--to", "zenodo", "--token-file", str(token), "--json"))
    assert sent["address"] == f"{double.url}/uploads/101" and sent["visibility"] == "draft"
    assert sent["mode"] == "test"
    again = run_command("agreement/1", "--to", "zenodo", "--public")
    assert "public" in again and "checksums verified" in again and len(double.depositions) == 1


def test_the_command_publishes_the_draft_that_is_there_and_says_that_it_stays(release, double, connect):
    connect("zenodo")
    with pytest.raises(CommandError, match="release 1 has no draft on Zenodo"):
        run_command("agreement/1", "--to", "zenodo", "--publish-draft")
    assert double.requests == []
    run_command("agreement/1", "--to", "zenodo")
    said = run_command("agreement/1", "--to", "zenodo", "--publish-draft")
    assert f"publishing the draft {double.url}/uploads/101" in said and "stays for good" in said
    assert "all versions: 10.5072/zenodo.9101" in said and double.count("/actions/publish") == 1
    with pytest.raises(CommandError, match="has no draft"):
        run_command("agreement/1", "--to", "zenodo", "--publish-draft")


def test_the_command_and_the_api_say_that_the_next_release_is_a_new_version(
    client, study, release, double, connect
):
    connect("zenodo")
    run_command("agreement/1", "--to", "zenodo", "--public")
    ready_release(study, seed=7)
    assert "new version of the record of release 1" in run_command(
        "agreement/2", "--to", "zenodo", "--dry-run"
    )
    sent = json.loads(run_command("agreement/2", "--to", "zenodo", "--json"))
    assert sent["concept_doi"] == "10.5072/zenodo.9101" and sent["visibility"] == "draft"
    path = "/api/v1/studies/agreement/releases/2/publications/"
    reading = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.ada(), scopes=('read',))}"}
    row = client.get(path, **reading).json()["results"][0]
    assert (row["concept_doi"], row["is_open"]) == ("10.5072/zenodo.9101", False)


def test_the_command_writes_a_folder_once(release, tmp_path):
    place = f"folder:{tmp_path / 'copy'}"
    assert "wrote" in run_command("agreement/1", "--to", place)
    assert "already there" in run_command("agreement/1", "--to", place)
    (tmp_path / "copy" / "methods.md").write_text("else")
    with pytest.raises(CommandError, match="never overwritten") as error:
        run_command("agreement/1", "--to", place)
    assert error.value.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("agreement/9", "--to", "osf"), "has no release 9 that is ready"),
        (("agreement/x", "--to", "osf"), "is not a release"),
        (("agreement/1", "--to", "figshare"), "unknown place 'figshare'"),
        (("agreement/1", "--to", "huggingface:agreement"), "is not a name of a dataset"),
        (("agreement/1", "--to", "osf"), "has no such account"),
        (("agreement/1", "--to", "folder:"), "the folder has no path"),
    ],
)
def test_the_command_refuses_what_it_cannot_do_in_one_line(release, arguments, sentence):
    with pytest.raises(CommandError, match=sentence) as error:
        run_command(*arguments)
    assert error.value.returncode == 2 and "\n" not in str(error.value)
