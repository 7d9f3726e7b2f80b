"""Amounts in minor units, with the digits that each currency has."""

import pytest
from babel.numbers import get_currency_precision, list_currencies

from analysis.errors import BadInput
from analysis.power.money import format_money, minor_digits, minor_units


@pytest.mark.parametrize(
    ("text", "currency", "minor", "formatted"),
    [
        ("1.5", "KWD", 1500, "1.500 KWD"),
        ("1,250", "KWD", 1250, "1.250 KWD"),
        ("500", "RWF", 500, "500 RWF"),
        ("500.00", "RWF", 500, "500 RWF"),
        ("200", "JPY", 200, "200 JPY"),
        (" 1,5 ", "EUR", 150, "1.50 EUR"),
    ],
)
def test_an_amount_has_the_digits_of_its_currency(text, currency, minor, formatted):
    assert minor_units(text, currency) == minor
    assert format_money(minor, currency) == formatted


@pytest.mark.parametrize(
    ("text", "currency"), [("1.505", "EUR"), ("1,500", "GBP"), ("500.5", "RWF"), ("0", "USD"), ("", "USD")]
)
def test_an_amount_that_is_ambiguous_or_too_fine_is_refused(text, currency):
    with pytest.raises(BadInput, match="amount"):
        minor_units(text, currency)


def test_the_digits_are_those_of_cldr():
    assert {name: minor_digits(name) for name in list_currencies()} == {
        name: get_currency_precision(name) for name in list_currencies()
    }
