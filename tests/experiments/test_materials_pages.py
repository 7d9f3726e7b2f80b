"""The materials pages: upload, preview, mapping, storing, looking, and who may do so."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from experiments.intake import previews
from experiments.models import Job, MaterialSet, Upload
from tests import cast
from tests.experiments.materials.spreadsheet_files import write_xlsx

TABLE = "item,condition,sentence,expected\n1,a,The keys are here.,1\n1,b,The keys is here.,0\n"
ABOUT = {"name": "Keys", "language": "en", "source": "", "licence": ""}


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    """Uploads go to a folder of the test."""
    settings.MEDIA_ROOT = tmp_path


def send(client, *files: tuple[str, str | bytes], **about):
    """Upload files and give the address of the preview."""
    sent = [
        SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode()) for name, text in files
    ]
    answer = client.post(reverse("material-upload"), {**ABOUT, **about, "files": sent})
    assert answer.status_code == 302, answer.context["form"].errors
    return answer.url


@pytest.mark.django_db
def test_strangers_are_asked_to_log_in(client):
    for name in ("materials", "material-upload"):
        assert reverse("account_login") in client.get(reverse(name)).url


def test_preview_names_encoding_and_delimiter_and_stores_nothing(ada):
    page = ada.get(send(ada, ("keys.csv", TABLE.replace(",", ";").encode("utf-16")))).content.decode()
    assert "UTF-16 LE with byte order mark" in page and "delimiter semicolon" in page
    assert "The keys are here." in page
    assert not MaterialSet.objects.exists()


def test_confirming_stores_the_set_and_lets_the_files_go(ada):
    address = send(ada, ("keys.csv", TABLE))
    answer = ada.post(address, {**ABOUT, "format": "auto", "action": "import"})
    material_set = MaterialSet.objects.get()
    assert answer.url == reverse("material-set", args=[material_set.slug])
    assert (material_set.owner, material_set.pairs.count()) == (cast.ada(), 1)
    assert not Upload.objects.exists()
    page = ada.get(answer.url).content.decode()
    assert "The keys is here." in page and 'lang="en"' in page


def test_a_column_with_another_name_is_mapped_on_the_page(ada):
    address = send(ada, ("keys.csv", TABLE.replace("sentence", "Satz")))
    first = ada.get(address)
    assert "missing column" in first.content.decode()
    assert "Satz" in first.content.decode()
    assert first.context["columns"]["1"].initial == "condition"  # what is understood stays chosen
    chosen = {**ABOUT, "format": "table", "action": "import", "column-0": "item", "column-1": "condition"}
    ada.post(address, {**chosen, "column-2": "sentence", "column-3": "expected"})
    assert MaterialSet.objects.get().pairs.get().good.text == "The keys are here."


def quotes_file():
    """A short file in Windows-1252, which does not say so."""
    return ("quotes.csv", "item,sentence\n1,The boy said “hello”.\n2,He left.\n".encode("cp1252"))


def test_an_inferred_encoding_is_asked_about_before_anything_is_stored(ada):
    address = send(ada, quotes_file())
    page = ada.get(address).content.decode()
    assert "Are these characters right?" in page
    assert "The boy said <mark>“</mark>hello<mark>”</mark>." in page
    form = {**ABOUT, "format": "auto", "action": "import"}
    answer = ada.post(address, form, follow=True)
    assert "Say below whether the lines with special characters are right." in answer.content.decode()
    assert not MaterialSet.objects.exists()
    right = {"encoding-of-0": "Windows-1252", "inferred-for-0": "Windows-1252"}
    ada.post(address, {**form, **right})
    assert MaterialSet.objects.get().sentences.get(item__key="1").text == "The boy said “hello”."


def test_another_encoding_is_shown_again_before_it_is_stored(ada):
    address = send(ada, quotes_file(), ("more.csv", "item,sentence\n3,Où est-il?\n"))
    other = {"encoding-of-0": "Mac Roman", "inferred-for-0": "Windows-1252"}
    answer = ada.post(address, {**ABOUT, "format": "auto", "action": "import", **other}, follow=True)
    page = answer.content.decode()
    assert "The boy said ìhelloî." in page and "Où est-il?" in page  # the other file stays UTF-8
    assert "Are these characters right?" not in page
    assert not MaterialSet.objects.exists()


def test_an_undecidable_encoding_is_chosen_from_a_list(ada):
    address = send(ada, ("names.csv", "item,sentence\n1,Peña\n".encode("latin-1")))
    page = ada.get(address).content.decode()
    assert "Peña&#x27; (Latin-1) or" in page and '<option value="Windows-1250">' in page
    page = ada.post(
        address, {**ABOUT, "format": "auto", "encoding": "Latin-1", "action": "again"}, follow=True
    ).content.decode()
    assert "Peña" in page and "Store these materials" in page


def test_a_broken_file_is_explained_with_its_row(ada):
    page = ada.get(send(ada, ("keys.csv", TABLE + "2,a,Well, this breaks.,1\n"))).content.decode()
    assert "keys.csv, row 4" in page and "Store these materials" not in page


def test_name_taken_by_other_content_keeps_the_upload(ada):
    cast.material_set("Keys")
    address = send(ada, ("keys.csv", TABLE))
    answer = ada.post(address, {**ABOUT, "format": "auto", "action": "import"}, follow=True)
    assert "exists with other content" in answer.content.decode()
    assert Upload.objects.exists()


def test_a_large_set_is_stored_by_a_job_once(ada, monkeypatch):
    monkeypatch.setattr("experiments.pages.materials.upload.MAX_IMMEDIATE", 1)
    address = send(ada, ("keys.csv", TABLE))
    form = {**ABOUT, "format": "auto", "action": "import"}
    first, second = ada.post(address, form), ada.post(address, form)
    assert first.url == second.url and Job.objects.count() == 1
    from_worker = Job.objects.get()
    from experiments.operation import job_runner

    job_runner.run(from_worker.pk)
    job_runner.run(from_worker.pk)
    from_worker.refresh_from_db()
    assert from_worker.state == Job.State.DONE, from_worker.error
    assert from_worker.result["pairs"] == 1 and MaterialSet.objects.count() == 1
    assert from_worker.kind == previews.IMPORT


def test_uploads_and_sets_are_visible_to_their_owner_only(ada, client, settings):
    address = send(ada, ("keys.csv", TABLE))
    materials = cast.material_set("agreement")
    cast.draft("agreement", materials=materials)
    ada.force_login(cast.cleo())
    assert ada.get(address).status_code == 404
    assert ada.post(address + "discard/").status_code == 404
    assert ada.get(reverse("material-set", args=[materials.slug])).status_code == 404
    assert "agreement" not in ada.get(reverse("materials")).content.decode()
    ada.force_login(cast.ben())
    assert ada.get(reverse("material-set", args=[materials.slug])).status_code == 200


def test_findings_of_the_checks_are_described_with_a_link_to_the_manual(ada):
    materials = cast.material_set("agreement")
    finding = {"severity": "warning", "code": "same_string", "message": "twice.", "file": "", "row": None}
    MaterialSet.objects.filter(pk=materials.pk).update(
        report={"findings": [finding], "finding_counts": {"same_string": 3}}
    )
    page = ada.get(reverse("material-set", args=[materials.slug])).content.decode()
    assert "same string" in page and "same_string" not in page
    assert ada.get("/manual/how-to/materials.md").status_code == 200 and "/manual/how-to/materials.md" in page


def test_search_finds_pairs_by_text_and_id(ada):
    materials = cast.material_set("agreement", n_items=3)
    address = reverse("material-set", args=[materials.slug])
    pairs = ada.get(address, {"q": "keys 2 are"}).context["page_of"]
    assert [pair.key for pair in pairs] == ["subject_verb-2"]
    assert ada.get(address, {"show": "sentences", "q": "-3-bad"}).context["page_of"].paginator.count == 1


def test_a_used_set_cannot_be_deleted_an_unused_one_can(ada):
    in_use, unused = cast.material_set("used"), cast.material_set("unused")
    cast.draft("used", materials=in_use)
    question = ada.post(reverse("material-delete", args=[unused.slug])).content.decode()
    assert "Delete unused?" in question and MaterialSet.objects.count() == 2
    for materials in (in_use, unused):
        ada.post(reverse("material-delete", args=[materials.slug]), {"sure": "yes"})
    assert list(MaterialSet.objects.values_list("name", flat=True)) == ["used"]


def test_a_sentence_with_markup_is_shown_as_text(ada):
    row = {
        "UID": "x",
        "pairID": "1",
        "sentence_good": "<b>A</b> & 'b'",
        "sentence_bad": "<script>no</script>",
    }
    page = ada.get(send(ada, ("x.jsonl", json.dumps(row)))).content.decode()
    assert "&lt;script&gt;no" in page and "<script>no" not in page


def test_the_sheet_of_a_spreadsheet_is_chosen_in_the_preview(ada, tmp_path):
    sheets = {"Old": [["sentence"], ["It rains."]], "New": [["sentence"], ["It snows."]]}
    address = send(ada, ("items.xlsx", write_xlsx(tmp_path / "items.xlsx", sheets).read_bytes()))
    page = ada.get(address).content.decode()
    assert '<option value="New">' in page and "It rains." in page
    form = {**ABOUT, "format": "auto", "sheet": "New"}
    assert "It snows." in ada.post(address, {**form, "action": "again"}, follow=True).content.decode()
    ada.post(address, {**form, "action": "import"})
    assert MaterialSet.objects.get().sentences.get().text == "It snows."


def test_paradigms_are_listed_in_natural_order_and_split_by_one_tick(ada):
    rows = "".join(
        f"{phenomenon},{number},{number},It rains {phenomenon} {number}.\n"
        for phenomenon in ("a", "b")
        for number in (10, 9, 1)
    )
    address = send(ada, ("items.csv", "phenomenon,paradigm,item,sentence\n" + rows))
    page = ada.get(address).content.decode()
    assert page.count("stand under more than one phenomenon") == 1
    assert "Paradigms are numbered anew in each phenomenon" in page and "Store these materials" not in page
    form = {**ABOUT, "format": "table", "split_paradigms": "on"}
    assert (
        "Store these materials"
        in ada.post(address, {**form, "action": "again"}, follow=True).content.decode()
    )
    page = ada.post(address, {**form, "action": "import"}, follow=True)
    names = [paradigm.name for paradigm in page.context["paradigms"]]
    assert names == ["a:1", "a:9", "a:10", "b:1", "b:9", "b:10"]


def test_the_button_that_leaves_out_items_shows_how_many(ada):
    rows = ["pair_id,good,bad", "a,One is here.,Two is here.", "b,Two is here.,Three is here."]
    rows.append("c,Four is here.,Five is here.")
    address = send(ada, ("pairs.csv", "\n".join(rows).encode()))
    page = " ".join(ada.get(address).content.decode().split())
    assert 'Leave these 2 out</button> Conflicting status, in <span class="num">2</span> items' in page
    assert 'conflicting status: <span class="num">1</span>' in page  # one sentence, in both items


def test_reading_again_keeps_a_question_about_a_column_until_it_is_answered(ada):
    address = send(ada, ("keys.csv", TABLE.replace("item", "lexset")))
    uses = {"column-1": "condition", "column-2": "sentence", "column-3": "expected"}
    again = {**ABOUT, "format": "table", "action": "again", **uses}
    warning = "column lexset may be the item"
    assert warning in ada.get(address).content.decode()
    assert warning in ada.post(address, {**again, "column-0": ""}, follow=True).content.decode()
    assert warning not in ada.post(address, {**again, "column-0": "attribute"}, follow=True).content.decode()
