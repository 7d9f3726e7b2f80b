"""The exercise with lines, as it stands on the page."""

import pytest

from tests.cast import PARAMETERS, begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
GAP = """([line, field]) => {
  const [a, b] = [line, field].map((one) => one.getBoundingClientRect());
  return Math.abs(document.dir === "rtl" ? a.right - b.right : a.left - b.left);
}"""


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_line_begins_where_its_field_does(open_page, check_page, language):
    parameters = {**PARAMETERS["magnitude_estimation"], "training": True}
    made = study(
        task="magnitude_estimation", instructions="", n_lists=1, language=language, parameters=parameters
    )
    page = open_page(width=1280)
    page.goto(f"/s/{begin(made).token}/")
    page.locator(".line-length").first.wait_for()
    check_page(page)
    for row in page.locator(".line-length").all():
        pair = [row.locator("line").element_handle(), row.locator("input").element_handle()]
        assert page.evaluate(GAP, pair) <= 1
