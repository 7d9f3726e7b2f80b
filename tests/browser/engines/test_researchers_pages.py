"""Researchers' pages once in Firefox: a form, an upload with its preview, a figure that answers."""

import pytest

from experiments.models import Experiment
from experiments.page_cache import cache
from tests import cast
from tests.browser.engines.test_sessions import follow
from tests.releases.study import judged_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SENTENCE = "The keys 1 are here. / The keys 1 is here."


def test_a_form_an_upload_and_a_figure_work_in_firefox(visit, client, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    cache.clear()
    judged_study("running", status="open")
    client.force_login(cast.ada())
    window = visit("firefox")
    window.send("AddCookie", cookie={"name": "sessionid", "value": client.cookies["sessionid"].value})

    window.open("/studies/new/")
    window.click("input[name=title]")
    window.press(*"Rain")
    follow(window, lambda: window.click("main form button.primary, main form button[type=submit]"))
    assert Experiment.objects.filter(title="Rain").exists(), window.text()

    table = tmp_path / "items.csv"
    table.write_text("participant,item,sentence,value\np1,i1,It rains.,3\np1,i2,It snows.,5\n")
    window.open("/materials/upload/")
    window.choose_file("input[type=file]", table)
    window.click("[name=name]")
    window.press(*"Rain")
    follow(window, lambda: window.click("main form[data-upload] button"))
    assert "Preview: nothing is stored yet." in window.text()

    window.open("/studies/running/items/")
    window.until("Boolean(document.querySelector('figure svg a'))")
    window.js("document.querySelector('figure svg').focus()")
    window.press("Home", *["ArrowDown"] * 3)
    said = "document.querySelector('figure [data-says]').innerText"
    assert "%" in window.js(said), window.js(said)
    follow(window, lambda: window.press("Enter"))
    window.until("location.href.includes('/judgments/?item=')")
