"""The choice of the row with the column names, for several files, at two widths."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HEAD = "item,condition,sentence,expected,a long name of a column without spaces_" + "x" * 40


def table(title, first):
    rows = [
        f"{item},{name},Sentence number {item} in condition {name} is here.,{status},y"
        for item in range(first, first + 2)
        for name, status in (("a", 1), ("b", 0))
    ]
    return "\n".join([title, "", HEAD, *rows])


@pytest.mark.parametrize("width", [390, 1280])
def test_the_header_row_of_several_files_is_chosen(open_page, client, live_server, settings, tmp_path, width):
    settings.MEDIA_ROOT = tmp_path / "media"
    client.force_login(cast.ada())
    page = open_page(width=width)
    value = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
    files = [tmp_path / name for name in ("experiment_one.csv", "experiment_two.csv")]
    for number, path in enumerate(files):
        path.write_text(table(f"Stimuli of Experiment {number}", 1 + 2 * number))
    page.goto("/materials/upload/")
    page.set_input_files("input[type=file]", [str(path) for path in files])
    page.fill("#id_name", "two")
    with page.expect_navigation():
        page.click("main button.primary")
    expect(page.locator("main")).to_contain_text("row 3 has item, condition, sentence")
    for step in ("question", "answer"):
        assert Axe().run(page).violations_count == 0, step
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), step
        if step == "question":
            page.check("input[name=header_row][value='3']")
            with page.expect_navigation():
                page.click("button[value=again]")
    expect(page.locator("main")).to_contain_text("Sentence number 4 in condition b is here.")
    expect(page.locator("main")).not_to_contain_text("row 3 has item")
