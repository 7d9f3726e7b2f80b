"""What the pages of results call things, and how they write large and small numbers."""

import pytest
from django.urls import reverse

from releases.templatetags.numerals import factor
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "–"),
        (42.2, "42.2"),
        (3.2e8, "3\u2009×\u200910⁸"),
        (0.002, "2\u2009×\u200910⁻³"),
        (1e12, "1\u2009×\u200910¹²"),
    ],
)
def test_bayes_factors_are_written_with_raised_powers(value, written):
    assert factor(value) == written


def test_coefficients_carry_the_names_of_the_papers(client):
    study = judged_study()
    client.force_login(cast.ada())
    page = client.get(reverse("study-reliability", args=[study.slug])).content.decode()
    for name in ("Gwet&#x27;s AC1", "Krippendorff&#x27;s α, nominal", "Fleiss&#x27; κ"):
        assert name in page
    assert "gwet ac1" not in page
