"""The preview of an import of judgments: what the answers mean is said in its fields, at two widths."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from experiments.models import Experiment, Job
from experiments.operation import job_runner
from experiments.page_cache import cache
from judgments.frames.build import judgment_frame
from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SENTENCES = [("i1", "acceptable", "She left."), ("i1", "unacceptable", "She leave.")]


def trial(index, block, **data):
    base = {"trial_type": "html-button-response", "subject": "p1", "trial_index": index, "block": block}
    return {**base, "rt": 800, **data}


TRIALS = [
    trial(index, block, item=item, expected=expected, sentence=text, response={"ok": answer, "sure": 1})
    for index, (block, item, expected, text, answer) in enumerate(
        [
            ("practice", "i0", "acceptable", "He sat.", 1),
            ("main", *SENTENCES[0], 0),
            ("main", *SENTENCES[1], 1),
            ("main", "i2", "acceptable", "They ran.", 9),
        ]
    )
]


@pytest.mark.parametrize("width", [390, 1280])
def test_answers_get_their_meaning_on_the_preview(open_page, client, live_server, settings, tmp_path, width):
    cache.clear()
    settings.MEDIA_ROOT = tmp_path / "media"
    client.force_login(cast.ada())
    page = open_page(width=width)
    value = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
    path = tmp_path / "run.json"
    path.write_text(json.dumps(TRIALS))

    def read_again():
        with page.expect_navigation():
            page.click("button[value=again]")
        assert Axe().run(page).violations_count == 0
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")

    page.goto("/judgments/import/")
    page.set_input_files("#id_file", str(path))
    page.fill("#id_experiment", "buttons")
    with page.expect_navigation():
        page.click("main button.primary")
    expect(page.locator("main")).to_contain_text("a response has several answers")
    page.check("input[name=guess_is_right][value=yes]")
    page.select_option("[name=map-value]", "ok")
    read_again()
    expect(page.locator("main")).to_contain_text("9 (1)")
    page.fill("#id_missing", "9")
    read_again()
    expect(page.locator("main")).to_contain_text("indexes of buttons")
    page.fill("#id_labels", "0=yes 1=no")
    page.fill("#id_where", "block=main")
    read_again()
    expect(page.locator("main")).to_contain_text("0 is yes, 1 is no")
    with page.expect_navigation():
        page.click("button[value=import]")
    job_runner.run(Job.objects.latest("pk").pk)
    frame = judgment_frame(Experiment.objects.get(title="buttons")).sort_values("position")
    assert frame["value"].astype(object).where(frame["value"].notna(), None).tolist() == [1.0, 0.0, None]
