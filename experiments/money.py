"""Money as whole minor units with a currency; written and read as people write it."""

import re
from decimal import Decimal

from analysis.errors import BadInput

WITHOUT_MINOR = {"CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF"}
LARGEST = 1_000_000
AMOUNT = re.compile(r"\d{1,7}(?:[.,]\d{1,2})?")


def digits(currency: str) -> int:
    """How many digits the minor unit of a currency has."""
    return 0 if currency in WITHOUT_MINOR else 2


def minor_units(text: str, currency: str) -> int:
    """Read an amount such as 1.50.

    >>> minor_units("1,5", "EUR"), minor_units("200", "JPY")
    (150, 200)
    """
    if not re.fullmatch(r"[A-Z]{3}", currency):
        raise BadInput(f"{currency!r} is no currency.", column="currency", remedy="Write GBP, EUR or USD.")
    text = text.strip()
    amount = (
        Decimal(text.replace(",", ".")) * 10 ** digits(currency) if AMOUNT.fullmatch(text) else Decimal(-1)
    )
    if amount != amount.to_integral_value() or not 0 < amount <= LARGEST:
        what = f"{text!r} is no amount." if text else "nothing is written here."
        raise BadInput(what, column="amount", remedy="Write for example 1.50.")
    return int(amount)


def written(amount_minor: int, currency: str) -> str:
    """Write an amount.

    >>> written(150, "GBP"), written(200, "JPY")
    ('1.50 GBP', '200 JPY')
    """
    return f"{Decimal(amount_minor).scaleb(-digits(currency)):f} {currency}"
