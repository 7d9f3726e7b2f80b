"""On a phone the row of a study's pages is wider than the screen: the present page is in sight anyway."""

import pytest

from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IN_SIGHT = """link => {
  const [box, row] = [link.getBoundingClientRect(), link.closest("nav").getBoundingClientRect()];
  return box.left >= row.left - 1 && box.right <= row.right + 1;
}"""

COVERED = """link => {
  const here = link.getBoundingClientRect();
  const covers = ({left, right}) => left < here.right && right > here.left;
  const others = [...link.closest("nav").querySelectorAll("a")].filter(one => one !== link);
  return others.filter(one => covers(one.getBoundingClientRect())).map(one => one.innerText);
}"""


@pytest.mark.parametrize("javascript", [True, False], ids=["javascript", "no-javascript"])
@pytest.mark.parametrize("name", ["", "design/", "participants/", "items/", "models/"])
def test_the_present_page_is_in_sight(open_page, client, live_server, name, javascript):
    cast.study("agreement")
    client.force_login(cast.ada())
    page = open_page(width=390)
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    if not javascript:
        page.route("**/*.js", lambda route: route.abort())
    page.goto(f"/studies/agreement/{name}")
    row = page.locator("nav.side")
    assert row.evaluate("row => row.scrollWidth > row.clientWidth")
    assert row.locator("[aria-current]").evaluate(IN_SIGHT)
    assert row.locator("[aria-current]").evaluate(COVERED) == []
    row.evaluate("row => row.scrollTo({left: 0})")
    assert row.locator("[aria-current]").evaluate(IN_SIGHT)
