"""Five steps from a study to a published campaign, over HTTP with a double of Prolific."""

import html
import re

import pytest

from experiments.models import AuditEntry, Campaign
from experiments.studies.history import old_and_new
from judgments.models import PlatformCall
from judgments.recruitment import credentials
from judgments.recruitment.pages.setup_views import proposed_places
from tests import cast
from tests.judgments.recruitment.pages.conftest import STUDY

pytestmark = pytest.mark.django_db


def text_of(response):
    return response.content.decode()


def start(browser, account):
    """A draft, from the first step."""
    response = browser.post(f"{STUDY}new/", {"account": account.pk})
    return response.url.split("/setup/")[0] + "/"


def values_on(page):
    """The values of the form's text fields as a browser would send them."""
    values = {}
    for tag in re.findall(r"<input[^>]*>", page):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        kind = re.search(r'type="([^"]+)"', tag)
        if name and (kind is None or kind[1] in {"text", "number", "hidden"}):
            values[name[1]] = html.unescape(value[1]) if value else ""
    values.pop("csrfmiddlewaretoken", None)
    return values


def send(browser, address, **changes):
    """Submit a step with the values that it shows, and some others."""
    return browser.post(address, {**values_on(text_of(browser.get(address))), **changes})


def complete(browser, address):
    """Go through the steps with the values that the study proposes."""
    send(browser, f"{address}setup/pay/", estimated_minutes="9")
    send(browser, f"{address}setup/who/")
    form = {"title": "Sentences", "description": "Read them.", "approval": "MANUALLY_REVIEW"}
    send(browser, f"{address}setup/completion/", **form)


def test_a_study_is_published_with_proposed_values(ada, study, account, prolific):
    address = start(ada, account)
    draft = Campaign.objects.get()
    assert (draft.places, draft.reward_minor, draft.currency) == (10, 150, "GBP")
    assert draft.options["title"] == study.shown_title
    complete(ada, address)
    review = text_of(ada.get(f"{address}setup/review/"))
    assert "nothing stands in the way" in review
    assert "POST</b>" in review and "/transition/" in review  # the calls that would be made
    assert "40.00 GBP" in review or "Total" in review
    page = ada.post(f"{address}publish/", follow=True)
    assert "The campaign is published on Prolific." in text_of(page)
    draft.refresh_from_db()
    assert draft.state == "running"
    (remote,) = prolific.platform.studies.values()
    assert (remote["status"], remote["total_available_places"], remote["reward"]) == ("ACTIVE", 10, 150)


def test_proposed_places_fill_whole_lists_within_the_limit_of_participants(study):
    n_lists = study.lists.count()
    assert n_lists > 1
    needed = proposed_places(study)
    cast.sit(study, "early")  # one place less is needed, and no list stays without its last participant
    assert proposed_places(study) == needed and needed % n_lists == 0
    study.max_participants = needed
    assert proposed_places(study) == needed - 1


def test_a_draft_is_left_and_continued_at_its_next_step(ada, study, account):
    address = start(ada, account)
    response = send(ada, f"{address}setup/pay/", places="12", reward="2.10", onward="leave")
    assert response.url == STUDY
    page = text_of(ada.get(STUDY))
    assert f'href="{address}setup/who/"' in page
    draft = Campaign.objects.get()
    assert (draft.places, draft.reward_minor) == (12, 210)


def test_nothing_is_sent_before_the_last_step(ada, account, prolific):
    address = start(ada, account)
    complete(ada, address)
    assert prolific.platform.studies == {}
    assert not PlatformCall.objects.exists()
    ada.post(f"{address}discard/")
    assert not Campaign.objects.exists()
    entry = AuditEntry.objects.get(action="campaign discarded")
    assert old_and_new(entry.details) == {"reward": ("1.50 GBP", ""), "places": (10, "")}


def test_the_calls_of_a_draft_are_downloaded_without_the_token_and_nothing_is_sent(
    ada, client, account, prolific
):
    address = start(ada, account)
    complete(ada, address)
    response = ada.get(f"{address}calls.json")
    document = response.json()
    assert document["mode"] == "test" and document["platform"] == "prolific"
    assert document["calls"][-1]["body"] == {"action": "PUBLISH"}
    assert any(call["body"].get("total_available_places") == 10 for call in document["calls"])
    assert prolific.platform.token not in response.content.decode()
    assert prolific.platform.studies == {} and not PlatformCall.objects.exists()
    ada.post(f"{address}publish/")
    assert ada.get(f"{address}calls.json").status_code == 404
    client.force_login(cast.cleo())
    assert client.get(f"{address}calls.json").status_code == 404


def test_a_campaign_without_a_filter_on_languages_is_pointed_out(ada, study, account, prolific):
    study.instructions = "Say **how natural** each sentence sounds.\n\nThen go on."
    study.save()
    address = start(ada, account)
    assert Campaign.objects.get().options["description"] == "Say how natural each sentence sounds."
    page = text_of(ada.get(f"{address}setup/who/"))
    assert "Proposed for the sentences" in page and re.search(r'value="English"[^>]*checked', page)
    complete(ada, address)  # without a tick
    assert "Proposed for the sentences" not in text_of(ada.get(f"{address}setup/who/"))
    missing = "No filter is about languages, and the sentences are in “en”."
    assert missing in text_of(ada.get(f"{address}setup/review/"))
    campaign = Campaign.objects.get()
    campaign.options["filters"] = [{"title": "First Language", "selected_values": ["English"]}]
    campaign.save()
    assert missing not in text_of(ada.get(f"{address}setup/review/"))


def test_filters_come_from_the_platforms_list_by_title(ada, account, prolific):
    address = start(ada, account)
    who = f"{address}setup/who/"
    assert "First language" in text_of(ada.get(who)).replace("First Language", "First language")
    response = send(ada, who, onward="add", filter="first-language")
    assert "add=first-language" in response.url
    page = text_of(ada.get(response.url.partition("#")[0]))
    assert 'name="first-language"' in page and "English" in page
    send(
        ada,
        response.url.partition("#")[0],
        **{"shown": ["first-language"], "first-language": ["English"], "group": "Islands"},
    )
    options = Campaign.objects.get().options
    assert [row["selected_values"] for row in options["filters"]] == [["English"]]
    assert options["group"] == "Islands"
    assert "people on Prolific match" in text_of(ada.get(who)) or "Fewer than 25" in text_of(ada.get(who))


def test_pay_below_the_platforms_minimum_is_shown_and_cannot_be_published(ada, account, prolific):
    address = start(ada, account)
    complete(ada, address)
    send(ada, f"{address}setup/pay/", reward="0.50", estimated_minutes="30")
    page = text_of(ada.get(f"{address}setup/pay/"))
    assert "1.00 GBP" in page and "minimum 6.00 GBP" in page
    review = text_of(ada.get(f"{address}setup/review/"))
    assert "below Prolific" in review and "Publish in test mode" not in review
    page = text_of(ada.post(f"{address}publish/", follow=True))
    assert "minimum" in page
    assert prolific.platform.studies == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reward": "a lot"}, "is no amount"),
        ({"places": "0"}, "greater than or equal to 1"),
        ({"estimated_minutes": "10", "maximum_minutes": "12"}, "At least 29 minutes"),
    ],
)
def test_a_wrong_value_is_refused_beside_its_field(ada, account, changes, words):
    address = start(ada, account)
    response = send(ada, f"{address}setup/pay/", **{"estimated_minutes": "9", **changes})
    assert response.status_code == 422
    assert words in text_of(response)


def test_two_editors_of_a_step_do_not_overwrite_each_other(ada, account):
    address = start(ada, account)
    first = values_on(text_of(ada.get(f"{address}setup/pay/")))
    send(ada, f"{address}setup/pay/", places="30", estimated_minutes="9")
    response = ada.post(f"{address}setup/pay/", {**first, "places": "40", "estimated_minutes": "9"})
    assert response.status_code == 409
    assert Campaign.objects.get().places == 30


def test_live_mode_wants_the_total_typed_in(ada, study, account, prolific):
    account.mode = "live"
    account.save()
    address = start(ada, account)
    complete(ada, address)
    review = text_of(ada.get(f"{address}setup/review/"))
    assert "Live." in review and "real money" in review
    total = re.search(r"Type the total to confirm it: ([\d.]+)", review)[1]
    assert "nothing was sent" in text_of(ada.post(f"{address}publish/", {"total": "1"}, follow=True))
    assert prolific.platform.studies == {}
    ada.post(f"{address}publish/", {"total": total})
    assert Campaign.objects.get().state == "running"


def test_an_unreachable_platform_keeps_the_draft_and_says_so(ada, account, prolific):
    address = start(ada, account)
    complete(ada, address)
    prolific.fail_next("503", n=50)
    page = text_of(ada.get(f"{address}setup/review/"))
    assert "Not everything could be checked" in page or "could not be asked" in page
    assert Campaign.objects.get().state == "draft"


def test_an_answer_that_is_lost_while_publishing_is_asked_for_before_anything_is_repeated(
    ada, account, prolific
):
    address = start(ada, account)
    complete(ada, address)
    prolific.fail_next("after", path="/transition/", method="POST")
    page = text_of(ada.post(f"{address}publish/", follow=True))
    assert "It is unknown whether this happened" in page
    assert PlatformCall.objects.get(kind="publish").state == "unknown"


def test_viewers_look_and_strangers_see_nothing(client, account, campaign):
    client.force_login(cast.ben())
    assert client.get(STUDY).status_code == 200
    assert client.post(f"{STUDY}new/", {"account": account.pk}).status_code == 403
    assert client.post(f"{STUDY}{campaign.pk}/publish/").status_code == 403
    client.force_login(cast.cleo())
    assert client.get(f"{STUDY}{campaign.pk}/").status_code == 404


def test_a_sandbox_campaign_of_mturk_is_drafted_in_dollars(ada, study):
    account = credentials.add_account(
        study,
        platform="mturk",
        label="Sandbox",
        secrets={"access_key_id": "AKIAAAAAAAAAAAAAAAAA", "secret_access_key": "k" * 40},
        by=cast.ada(),
        options={"currency": "USD"},
    )
    address = start(ada, account)
    draft = Campaign.objects.get()
    assert (draft.currency, draft.reward_minor, draft.mode) == ("USD", 0, "test")
    response = send(ada, f"{address}setup/who/", countries="us, GB", percent_approved="95", no_repeat="on")
    assert response.status_code == 302
    assert Campaign.objects.get().options["qualifications"]["countries"] == ["US", "GB"]
    assert "Sandbox." in text_of(ada.get(f"{address}setup/who/"))
    assert "is no two-letter code" in text_of(send(ada, f"{address}setup/who/", countries="England"))


def test_history_names_what_was_done(ada, account):
    start(ada, account)
    assert AuditEntry.objects.filter(action="campaign drafted").exists()
