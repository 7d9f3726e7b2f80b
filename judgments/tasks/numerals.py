"""Numbers as people type them: digits of any script, with a point or a comma."""

import re
import unicodedata

DECIMAL = re.compile(r"[+]?(\d+([.,]\d*)?|[.,]\d+)", re.ASCII)
TOO_LONG = 40
MARKS = dict.fromkeys(map(ord, "\u061c\u200e\u200f"))  # keyboards add them to keep a direction
SIGNS = str.maketrans({"٫": ".", "،": ",", "．": ".", "，": ",", "＋": "+"})


def decimal_of(typed: str) -> float | None:
    """Read one decimal number without a minus sign.

    Parameters
    ----------
    typed : str
        Digits of any script (Latin, Arabic-Indic, full-width, …) with at most one decimal point or comma;
        spaces around are allowed.

    Returns
    -------
    float or None
        None where it is no such number, or longer than 40 signs.

    Notes
    -----
    Exponents, ``nan`` and ``inf`` are not numbers here, and neither is anything with two separators:
    ``1,000.5`` could be read in two ways, and guessing would change the measurement.

    Examples
    --------
    >>> decimal_of("62,5"), decimal_of("٦٢٫٥"), decimal_of("６２．５"), decimal_of("1,000.5")
    (62.5, 62.5, 62.5, None)
    """
    plain = typed.strip().translate(MARKS).translate(SIGNS)
    plain = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in plain)
    if len(plain) > TOO_LONG or not DECIMAL.fullmatch(plain):
        return None
    return float(plain.replace(",", "."))
