"""On a phone the study's name, its six groups and the pages of the present group are in view at once."""

import pytest

from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = {
    "Overview": "",
    "Plan": "design/",
    "Recruit": "live/",
    "Data": "participants/",
    "Results": "items/",
    "Publish": "models/",
}
OUT_OF_VIEW = """links => links.filter(link => {
  const {left, right, width, height} = link.getBoundingClientRect();
  return left < 0 || right > innerWidth || !width || height < 36;
}).map(link => link.innerText)"""
COVERED = """links => links.filter(link => {
  const here = link.getBoundingClientRect();
  return links.some(other => {
    const box = other.getBoundingClientRect();
    const isApart = box.left >= here.right || box.right <= here.left || box.top >= here.bottom - 1
      || box.bottom <= here.top + 1;
    return other !== link && !isApart;
  });
}).map(link => link.innerText)"""


@pytest.mark.parametrize("javascript", [True, False], ids=["javascript", "no-javascript"])
def test_every_group_and_the_present_page_are_in_view(open_page, client, live_server, javascript):
    cast.study("agreement")
    client.force_login(cast.ada())
    page = open_page(width=390)
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    if not javascript:
        page.route("**/*.js", lambda route: route.abort())
    for group, name in PAGES.items():
        page.goto(f"/studies/agreement/{name}")
        nav = page.locator("nav.side")
        assert nav.locator("b").is_visible() and nav.locator("b").inner_text() == "Study agreement"
        assert nav.locator("> ul > li > a").all_inner_texts() == list(PAGES)
        assert nav.evaluate("nav => nav.scrollWidth <= nav.clientWidth")
        assert nav.locator("li > a").evaluate_all(OUT_OF_VIEW) == []
        assert nav.locator("li > a").evaluate_all(COVERED) == []
        assert nav.locator("[aria-current=true]").inner_text() == group
        present = nav.locator("[aria-current=page]")
        assert present.count() == 1 and page.url.endswith(present.get_attribute("href"))
        assert nav.locator("> ul").bounding_box()["height"] < 180
