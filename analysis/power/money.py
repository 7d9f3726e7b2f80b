"""Money as whole minor units with a currency; parsing and formatting of amounts."""

import re
from decimal import Decimal

from ..errors import BadInput

#: Digits of the minor unit where they are not two, as in CLDR; a test compares them with Babel's copy.
DIGITS = {
    0: "ADP AFN ALL BIF BYR CLP DJF ESP GNF IQD IRR ISK ITL JPY KMF KPW KRW LAK LBP LUF MGA MGF MMK MRO PYG "
    "RSD RWF SLL SOS STD SYP TMM TRL UGX UYI VND VUV XAF XOF XPF YER ZMK ZWD",
    3: "BHD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_DIGITS_OF = {currency: digits for digits, names in DIGITS.items() for currency in names.split()}
LARGEST = 1_000_000  # minor units; catches a slip of the keyboard, not a budget


def minor_digits(currency: str) -> int:
    """Return how many digits the minor unit of a currency has (CLDR).

    >>> minor_digits("EUR"), minor_digits("JPY"), minor_digits("KWD")
    (2, 0, 3)
    """
    return _DIGITS_OF.get(currency, 2)


def minor_units(text: str, currency: str, *, largest: int = LARGEST) -> int:
    """Parse an amount such as 1.50, up to ``largest`` minor units.

    >>> minor_units("1,5", "EUR"), minor_units("500", "RWF"), minor_units("1.5", "KWD")
    (150, 500, 1500)
    """
    text, digits = text.strip(), minor_digits(currency)
    # Two decimals at least, for 500.00 RWF; no third one elsewhere, where 1,500 may mean a thousand.
    amount = re.fullmatch(rf"(\d{{1,7}})(?:[.,](\d{{1,{max(digits, 2)}}}))?", text, re.ASCII)
    minor = Decimal(f"{amount[1]}.{amount[2] or 0}").scaleb(digits) if amount else Decimal(-1)
    if minor != minor.to_integral_value() or minor <= 0:
        problem = f"{text!r} is no amount." if text else "nothing is written here."
        raise BadInput(problem, column="amount", remedy="Write for example 1.50.")
    check_money(int(minor), currency, largest=largest)
    return int(minor)


def check_money(amount_minor: int, currency: str, *, largest: int = LARGEST, whose: str = "") -> None:
    """Refuse an amount that is not positive or above ``largest``, and what is no code of a currency.

    >>> check_money(150, "GBP")
    """
    if not re.fullmatch(r"[A-Z]{3}", currency):
        raise BadInput(f"{currency!r} is no currency.", column="currency", remedy="Write GBP, EUR or USD.")
    if amount_minor <= 0:
        raise BadInput("there is no amount.", column="amount", remedy="Write for example 1.50.")
    if amount_minor > largest:
        raise BadInput(
            f"{format_money(amount_minor, currency)} is more than {whose or 'this field'} allows"
            f"{' for one payment' if whose else ''}, {format_money(largest, currency)}.",
            column="amount",
            remedy="Write a smaller amount, or raise the limit." if whose else "Write a smaller amount.",
        )


def format_money(amount_minor: int, currency: str) -> str:
    """Format an amount.

    >>> format_money(150, "GBP"), format_money(200, "JPY"), format_money(1500, "KWD")
    ('1.50 GBP', '200 JPY', '1.500 KWD')
    """
    return f"{Decimal(amount_minor).scaleb(-minor_digits(currency)):f} {currency}"
