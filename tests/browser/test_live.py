"""The live page in a browser: it renews itself, says so politely, and keeps the reader's focus."""

import pytest
from playwright.sync_api import expect

from experiments.page_cache import cache
from judgments.models import SessionEvent
from tests import cast
from tests.releases.study import add_sitting, judged_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_numbers_renew_themselves_and_the_focus_stays(client, open_page, live_server):
    cache.clear()
    study = cast.study("agreement", target_judgments=10)
    client.force_login(cast.ada())
    page = open_page(width=1280)
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page.goto("/studies/agreement/live/")
    expect(page.get_by_text("These numbers update every few seconds")).to_be_visible()
    page.locator("section[aria-labelledby=lists]").focus()
    cast.sit(study, "pia")
    expect(page.locator("[data-live-said]")).to_have_text("1 complete, 0 in session now, 4 judgments.")
    expect(page.locator("dl.facts dd").first).to_contain_text("1 of 10 needed")
    assert page.evaluate("document.activeElement.getAttribute('aria-labelledby')") == "lists"
    cast.sit(study, "quentin", n=1)
    expect(page.locator("[data-live-said]")).to_contain_text("1 in session now")


def test_problems_of_devices_appear_while_the_study_runs(client, open_page, live_server, check_page):
    cache.clear()
    study = cast.study("agreement", n_lists=1, instructions="")
    client.force_login(cast.ada())
    page = open_page(width=390)
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page.goto("/studies/agreement/live/")
    devices = page.get_by_role("region", name="Participants’ devices")
    expect(devices).to_have_count(0)
    for name, kinds in {"pia": ["no_engine"], "quentin": ["storage", "missing_glyphs", "storage"]}.items():
        session = cast.begin(study, name)
        for kind in kinds:
            SessionEvent.objects.create(session=session, kind=kind)
    cache.clear()
    rows = devices.locator("tbody tr")
    expect(rows).to_have_count(3)
    assert {row.split("\t")[1] for row in rows.all_inner_texts()} == {"1"}
    expect(rows.first).to_contain_text("the trial engine did not start")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        check_page(page)
    devices.get_by_role("link", name="Exclusions").click()
    expect(page.locator("h1")).to_contain_text("xclusion")


def test_agreement_so_far_renews_itself_and_each_state_seen_is_a_look(client, open_page, live_server):
    cache.clear()
    study = judged_study("running", status="open")
    client.force_login(cast.ada())
    page = open_page(width=390)
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page.goto("/studies/running/progress/?rule=0.6&more=3")
    n_looks = page.locator("dl.facts dd").first
    expect(n_looks).to_contain_text("1")
    add_sitting(study, "newcomer", agrees=False)
    cache.clear()
    expect(n_looks).to_contain_text("2")
    expect(page.locator("[data-live-said]")).to_contain_text("judgments.")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
