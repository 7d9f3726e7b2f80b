"""Names of participants, items and conditions that differ in case, spaces or zeros only."""

import re
from collections.abc import Iterable
from dataclasses import replace

from analysis.text import plural
from judgments.imports.readers.base import JudgmentFile

MAX_NAMED = 3


def warn_of_similar_names(read: JudgmentFile) -> JudgmentFile:
    """Warn where one participant, item or condition may have several names, and counts as several."""
    columns: dict[str, Iterable[str]] = {
        "participant": read.participants["participant"],
        "item": read.judgments["item"].unique(),
        "condition": read.judgments["condition"].unique(),
    }
    warnings = []
    for what, names in columns.items():
        groups: dict[str, list[str]] = {}
        for name in dict.fromkeys(map(str, names)):
            groups.setdefault(_simplify(name), []).append(name)
        if similar := [group for group in groups.values() if len(group) > 1]:
            examples = "; ".join(" and ".join(map(repr, group)) for group in similar[:MAX_NAMED])
            more = f"; and {len(similar) - MAX_NAMED} more" if len(similar) > MAX_NAMED else ""
            warnings.append(
                f"{plural(len(similar), what)} may have several names, which differ in case, spaces or zeros "
                f"only: {examples}{more}. Each name counts as one of its own; write one of them in the file."
            )
    return replace(read, warnings=(*read.warnings, *warnings))


def _simplify(name: str) -> str:
    """Return a name without what spreadsheets and typing change.

    Examples
    --------
    >>> _simplify(" S01"), _simplify("s01 "), _simplify("007"), _simplify("7.0")
    ('s01', 's01', '7', '7')
    """
    words = " ".join(name.split()).casefold()
    number = re.fullmatch(r"0*(\d+?)(\.0+)?", words)
    return number[1] if number else words
