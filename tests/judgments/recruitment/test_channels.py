"""Channels: panels send people with an id in the link and take them back, with a link for each outcome."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from experiments.models import AuditEntry, Campaign
from judgments.models import PlatformIdentity, Session
from judgments.recruitment.panel import OUTCOMES, PRESETS
from judgments.sessions.arrival import personal_link
from tests import cast
from tests.judgments.screens.walk import consent, hidden

pytestmark = pytest.mark.django_db
POOL = "https://pool.example/"
RETURNS = {outcome: f"{POOL}{outcome}?id={{participant}}&visit={{session}}" for outcome in OUTCOMES}
LINK = "/take/agreement/panel/pool/?PID=w-17&VISIT=v%2F3&group=b"


def channel(study=None, **changes):
    """An open channel of a pool that names its people PID and their visits VISIT."""
    options = {"id_parameter": "PID", "submission_parameter": "VISIT", "returns": RETURNS}
    fields = {"recruiter": "panel", "name": "pool", "state": "running", "options": options}
    return Campaign.objects.create(experiment=study or cast.study("agreement"), **{**fields, **changes})


def way_back(page):
    """The address of the button that leads back, without escapes."""
    start = page.partition(f'href="{POOL}')[2].partition('"')[0]
    return POOL + start.replace("&amp;", "&") if start else ""


def text_of(response):
    return response.content.decode()


def answered(address):
    session = Session.objects.get(token=address.split("/")[2])
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    return session


def test_who_completes_is_led_back_with_the_ids_of_the_link(client):
    pool = channel()
    address = consent(client, LINK)
    session = answered(address)
    page = text_of(client.get(address))
    assert way_back(page) == f"{POOL}complete?id=w-17&visit=v%2F3"
    session.refresh_from_db()
    assert session.campaign == pool and session.status == Session.Status.COMPLETE
    identity = PlatformIdentity.objects.get()
    assert (identity.external_id, identity.is_verified, identity.recruiter) == ("w-17", False, "panel")
    assert session.attributes["link"] == {"group": "b"}  # ids are in the vault only


def test_the_last_answer_over_the_api_does_not_bring_a_page_without_the_way_back(client):
    channel()
    address = consent(client, LINK)
    session = Session.objects.get()
    rows = [
        {"trial": trial.public_id, "response": cast.answer_to(trial)}
        for trial in session.trials.select_related("session__experiment")
    ]
    document = client.post(
        f"/api/v1/sessions/{session.token}/judgments/", {"judgments": rows}, content_type="application/json"
    ).json()
    assert document["complete"]
    assert way_back(document.get("page") or text_of(client.get(address))).startswith(f"{POOL}complete")


def test_each_other_outcome_has_its_own_way_back(client):
    study = cast.study("agreement", questionnaire=[{**NATIVE, "screen_out": ["no"]}])
    channel(study)
    refusal = {"arrival": hidden(text_of(client.get(LINK)), "arrival"), "consent": "no"}
    assert way_back(text_of(client.post(LINK, refusal))) == f"{POOL}refused?id=w-17&visit=v%2F3"
    out = Client()
    address = consent(out, LINK)
    out.post(f"{address}questions/", {"native": "no"})
    assert way_back(text_of(out.get(address))) == f"{POOL}screened_out?id=w-17&visit=v%2F3"
    left = Client()
    address = consent(left, LINK)
    left.post(f"{address}leave/")
    assert way_back(text_of(left.get(address))) == f"{POOL}left?id=w-17&visit=v%2F3"


NATIVE = {"name": "native", "label": "Is English your native language?", "type": "yes_no"}


def test_places_of_a_channel_are_its_own_limit(client):
    study = cast.study("agreement")
    channel(study, places=1)
    page_before = text_of(Client().get(LINK))
    consent(client, LINK)
    late = Client()
    page = text_of(late.get(LINK.replace("w-17", "w-18")))
    assert way_back(page) == f"{POOL}over_quota?id=w-18&visit=v%2F3" and "full" in page
    # Whoever read the consent page while the place was free learns it after agreeing.
    sent = late.post(LINK, {"arrival": hidden(page_before, "arrival"), "consent": "yes"})
    assert "full" in text_of(sent) and Session.objects.count() == 1
    assert consent(Client(), "/take/agreement/")  # the study itself has places


@pytest.mark.parametrize(
    ("state", "words"), [("paused", "takes a break"), ("finished", "is over"), ("draft", "not open")]
)
def test_a_channel_that_is_not_open_admits_no_participant(client, state, words):
    study = cast.study("agreement")
    channel(study, state=state)
    page = client.get(LINK)
    assert words in text_of(page) and "I agree" not in text_of(page)
    assert client.get("/take/agreement/panel/other/").status_code == 404


def test_a_channel_opens_no_earlier_session_to_who_shows_only_its_id(client):
    channel()
    address = consent(client, LINK)
    assert consent(Client(), LINK) != address
    assert client.get(LINK)["Location"] == address


def test_a_personal_link_begins_no_second_session_over_a_channel(client):
    study = cast.study("agreement")
    channel(study, options={"id_parameter": "participant"})
    signed = personal_link(study, "mia")
    address = consent(client, signed)
    consent(Client(), signed.replace("/take/agreement/", "/take/agreement/panel/pool/"))
    assert list(PlatformIdentity.objects.filter(is_verified=True).values_list("recruiter")) == [("direct",)]
    assert Client().get(signed)["Location"] == address


def test_a_button_pressed_twice_adds_one_channel_and_a_used_name_stays(ada):
    cast.study("agreement")
    assert [added(ada).status_code, added(ada).status_code] == [302, 422]
    consent(Client(), LINK)
    address = "/studies/agreement/channels/pool/"
    page = ada.get(address)
    sent = ada.post(address, {**values_of(page), "name": "other", "version": page.context["version"]})
    assert sent.status_code == 422 and "would break it" in text_of(sent)
    assert Campaign.objects.get().name == "pool"


def test_return_links_of_the_study_hold_where_a_channel_has_none(client):
    study = cast.study(
        "agreement",
        completion="redirect",
        completion_url="https://study.example/?cc={code}",
        completion_code="DONE",
    )
    channel(study, options={"returns": {}})
    address = consent(client, "/take/agreement/panel/pool/")
    answered(address)
    assert "https://study.example/?cc=DONE" in text_of(client.get(address))


# The researcher's page


def values_of(page):
    """What the fields of the page's form hold."""
    form = page.context["form"]
    return {name: form[name].value() or "" for name in form.fields}


def added(ada, **changes):
    fields = {"preset": "company", "name": "pool", "id_parameter": "PID", "submission_parameter": ""}
    fields |= {"return_complete": f"{POOL}done?id={{participant}}", **changes}
    return ada.post("/studies/agreement/channels/new/", fields)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_fills_in_a_form_that_can_be_saved_once_its_blanks_are_replaced(ada, preset):
    cast.study("agreement")
    page = ada.get(f"/studies/agreement/channels/new/?preset={preset}")
    values = values_of(page)
    filled_in = "".join(map(str, values.values()))
    blanks = [word for word in ("YOUR-", "-CODE", "-ID", "CREDIT-") if word in filled_in]
    refused = ada.post("/studies/agreement/channels/new/", {**values, "preset": preset})
    assert (refused.status_code == 422) == bool(blanks)
    filled = {
        name: str(value).replace("-CODE", "").replace("-ID", "").replace("YOUR-", "").replace("-TOKEN", "")
        for name, value in values.items()
    }
    if blanks:
        assert "still has" in text_of(refused)
        assert ada.post("/studies/agreement/channels/new/", {**filled, "preset": preset}).status_code == 302
    assert Campaign.objects.get().state == "running"
    html = text_of(ada.get("/studies/agreement/channels/")).replace("&amp;", "&")
    for name, value in PRESETS[preset].link.items():
        assert (f"{name}={value}" in html) == bool(value)


def test_a_channel_is_added_changed_paused_and_counted(ada):
    study = cast.study("agreement")
    assert added(ada, places="30").status_code == 302
    consent(Client(), LINK)
    page = text_of(ada.get("/studies/agreement/channels/"))
    assert "http://testserver/take/agreement/panel/pool/?PID=[ID]" in page and "1 of 30" in page
    address = "/studies/agreement/channels/pool/"
    form = values_of(ada.get(address))
    version = ada.get(address).context["version"]
    ada.post(address, {**form, "places": "40", "version": version})
    assert Campaign.objects.get().places == 40
    ada.post(f"{address}state/", {"action": "pause"})
    assert Campaign.objects.get().state == "paused"
    assert "takes a break" in text_of(Client().get(LINK))
    actions = AuditEntry.objects.filter(experiment=study).values_list("action", flat=True)
    assert {"channel added", "channel changed", "channel paused"} <= set(actions)


def test_of_two_editors_the_second_is_shown_the_change_of_the_first(ada):
    cast.study("agreement")
    added(ada)
    address = "/studies/agreement/channels/pool/"
    opened = ada.get(address).context
    form = values_of(ada.get(address))
    ada.post(address, {**form, "places": "40", "version": opened["version"]})
    second = ada.post(address, {**form, "id_parameter": "person", "version": opened["version"]})
    assert second.status_code == 409 and "Another editor changed this channel" in text_of(second)
    stored = Campaign.objects.get()
    assert (stored.places, stored.options["id_parameter"]) == (40, "PID")
    assert second.context["form"]["places"].value() == "40"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"return_complete": "http://pool.example/"}, "https address"),
        ({"return_complete": "https://{participant}.example/"}, "placeholder in its host"),
        ({"id_parameter": "1 d"}, "cannot be a parameter"),
        ({"submission_parameter": "pid"}, "same name"),
        ({"name": "new"}, "address of the page itself"),
        ({"name": "two words"}, "slug"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_reason(ada, changes, words):
    cast.study("agreement")
    refused = added(ada, **changes)
    assert refused.status_code == 422 and words in text_of(refused)
    assert not Campaign.objects.exists()


def test_viewers_look_and_strangers_see_nothing(client):
    channel()
    client.force_login(cast.ben())
    page = text_of(client.get("/studies/agreement/channels/"))
    assert "/take/agreement/panel/pool/" in page and "Add a channel" not in page and "Pause" not in page
    for address, data in (
        ("channels/new/", {}),
        ("channels/pool/", {}),
        ("channels/pool/state/", {"action": "pause"}),
        ("channels/quotas/", {}),
        ("links/", {"labels": "x"}),
    ):
        assert client.post(f"/studies/agreement/{address}", data).status_code == 403
    client.force_login(cast.cleo())
    for address in ("channels/", "channels/pool/", "channels/link.svg"):
        assert client.get(f"/studies/agreement/{address}").status_code == 404
    assert Campaign.objects.get().state == "running"


def test_the_link_is_a_qr_code_of_its_address(ada):
    channel()
    code = ada.get("/studies/agreement/channels/link.svg")
    assert code["Content-Type"] == "image/svg+xml" and b"<path" in code.content
    assert code.content != ada.get("/studies/agreement/channels/link.svg?channel=pool").content


# Personal links


def test_a_class_list_returns_with_a_link_for_each_person(ada):
    cast.study("agreement")
    table = "mail,name\nmia@example.org,Mia\nnoa@example.org,=1+1\n"
    sent = SimpleUploadedFile("class.csv", b"\xef\xbb\xbf" + table.encode())
    file = ada.post("/studies/agreement/links/", {"file": sent})
    rows = list(csv.DictReader(io.StringIO(text_of(file))))
    assert [row["mail"] for row in rows] == ["mia@example.org", "noa@example.org"]
    assert rows[1]["name"].strip('"') == "=1+1" != rows[1]["name"]  # no formula in a spreadsheet
    address = consent(Client(), rows[0]["link"])
    assert Client().get(rows[0]["link"])["Location"] == address
    assert PlatformIdentity.objects.get().external_id == "mia@example.org"
    assert re.search(r"\bMia\b", str(PlatformIdentity.objects.values())) is None


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("a\t1\nb\t2\na\t3", "Row 3: another row has the label “a”"),
        ("", "at least one label"),
        ("x" * 201, "longer than 200 characters"),
        ("a\t1\n\n\tNoa", "Row 3: no label"),
    ],
)
def test_a_list_that_cannot_give_links_is_refused_with_its_row(ada, table, words):
    cast.study("agreement")
    page = ada.post("/studies/agreement/links/", {"labels": table})
    assert page.status_code == 422 and words in text_of(page)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"label,name\nlab-01,Mia\n\nlab-01,Noa\n", "class.csv, row 4: another row has the label “lab-01”"),
        (b"label,name\n,Mia\n", "class.csv, row 2: no label"),
        (b"label,name\nlab-01,Zo\xeb\n", "class.csv, row 2: not UTF-8"),
        (b"label,name\rlab-01,Mia\rlab-01,Noa\r", "another row has the label “lab-01”"),
        (b'label,name\nlab-01,"' + b"x" * 10_001, "Row 2: a cell has more than 10,000 characters"),
        (b"label,name\n" + b"lab-01,Mia\n" * 300_000, "class.csv: longer than 3,000,000 bytes"),
    ],
    ids=["one label twice", "no label", "Latin-1", "ends of lines of old", "open quotation mark", "too long"],
)
def test_a_class_list_with_a_fault_is_refused_with_its_name_and_line(ada, content, words):
    cast.study("agreement")
    page = ada.post("/studies/agreement/links/", {"file": SimpleUploadedFile("class.csv", content)})
    assert page.status_code == 422 and words in text_of(page)


def test_a_file_that_is_no_list_of_participants_is_refused(ada):
    cast.study("agreement")
    files = {"a.yaml": b"a: 1", "a.toml": b"a = 1", "a.jsonl": b'{"a": 1}', "a.csv": b'label\n{"a": 1}\n'}
    for name, content in files.items():
        page = ada.post("/studies/agreement/links/", {"file": SimpleUploadedFile(name, content)})
        assert page.status_code == 422 and ("no CSV file" in text_of(page) or "no label" in text_of(page)), (
            name
        )


def test_an_expired_personal_link_starts_no_session_but_continues_one(client):
    study = cast.study("agreement")
    today = timezone.now().date()
    over = personal_link(study, "mia", until=today - timedelta(days=1))
    assert "is over" in text_of(client.get(over))
    key = hidden(text_of(Client().get("/take/agreement/")), "arrival")
    client.post(over, {"arrival": key, "consent": "yes"})
    assert not Session.objects.exists()
    current = personal_link(study, "mia", until=today)
    address = consent(client, current)
    assert Client().get(over)["Location"] == address  # the same person, already begun
    longer = current.replace(today.isoformat(), "2999-01-01")
    assert Client().get(longer).status_code == 200  # a changed day breaks the signature: an id like any other
