"""The columns a material table may have, what they mean, and the other names under which they are known."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.errors import BadInput, MissingColumns, UnknownName


@dataclass(frozen=True)
class Field:
    """A column of a material table.

    Attributes
    ----------
    name : str
        Our name.
    meaning : str
        One sentence for the documentation and the mapping page.
    aliases : tuple of str
        Other names that are understood without a mapping, in order of preference.
    longest : int
        Most characters stored; 0 for no limit.
    """

    name: str
    meaning: str
    aliases: tuple[str, ...] = ()
    longest: int = 0


def _table(*fields: Field) -> dict[str, Field]:
    return {field.name: field for field in fields}


_GROUPS = (
    Field(
        "item",
        "One lexicalization, seen in one or more conditions.",
        ("item_id", "item_number", "itemid"),
        250,
    ),
    Field("condition", "The item's cell of the design.", ("cond", "condition_name"), 200),
    Field("paradigm", "Group of items of one contrast.", ("uid",), 200),
    Field("phenomenon", "Group of paradigms.", ("linguistics_term",), 200),
)

#: One sentence per row.
SENTENCE_FIELDS = _table(
    Field("sentence_id", "Name of the sentence, unique in the set.", ("id", "sent_id", "stimulus_id"), 250),
    Field("sentence", "The text, kept exactly as given.", ("text", "sentence_text", "stimulus")),
    *_GROUPS,
    Field(
        "expected",
        "The author's intended status: acceptable or unacceptable (also 1/0, good/bad, g/*).",
        ("label", "acceptability", "acceptable", "grammatical", "grammaticality"),
        12,
    ),
    Field("mark", "The mark of the source, such as * or ??.", ("label_notes", "judgment_mark"), 12),
    Field("critical_region", "The words on which the contrast turns.", ("crucial_item",), 200),
    Field("sentence_language", "BCP 47 tag, only where it differs from the set's.", (), 35),
)

#: One pair per row, both sentences written out.
WIDE_FIELDS = _table(
    Field("pair_id", "Name of the pair, unique in the set.", ("pairid", "pair"), 250),
    Field("good", "The acceptable sentence.", ("sentence_good", "good_sentence", "acceptable_sentence")),
    Field("bad", "The unacceptable sentence.", ("sentence_bad", "bad_sentence", "unacceptable_sentence")),
    *_GROUPS,
)

#: One pair per row, by sentence ids of another table.
PAIR_FIELDS = _table(
    Field("pair_id", "Name of the pair, unique in the set.", ("pairid", "pair"), 250),
    Field("good_id", "sentence_id of the acceptable sentence.", ("gramm_id",), 250),
    Field("bad_id", "sentence_id of the unacceptable sentence.", ("ungramm_id",), 250),
    Field("paradigm", "Group of pairs of one contrast.", ("uid",), 200),
    Field("phenomenon", "Group of paradigms.", ("linguistics_term",), 200),
    Field("discard", "X, 1 or true where the pair is not to be used.", (), 0),
)

ACCEPTABLE = "acceptable"
UNACCEPTABLE = "unacceptable"
_STATUS = {
    **dict.fromkeys(
        ("acceptable", "1", "1.0", "good", "g", "ok", "grammatical", "true", "yes", "✓"), ACCEPTABLE
    ),
    **dict.fromkeys(
        (
            "unacceptable",
            "0",
            "0.0",
            "bad",
            "ungrammatical",
            "false",
            "no",
            "*",
            "**",
            "?",
            "??",
            "???",
            "?*",
            "*?",
        ),
        UNACCEPTABLE,
    ),
    **dict.fromkeys(("", "na", "nan", "#n/a", "none", "null"), ""),
}


def simple_name(name: str) -> str:
    """Write a column name as names are compared: lower case, words joined by underscores.

    Parameters
    ----------
    name : str

    Returns
    -------
    str

    Examples
    --------
    >>> simple_name(" Sentence.ID ")
    'sentence_id'
    """
    return re.sub(r"[\s.\-]+", "_", name.strip().lower())


def expected_status(value: str) -> str | None:
    """Understand an author's status.

    Parameters
    ----------
    value : str
        For example ``1``, ``good``, ``g``, ``*`` or ``??``.

    Returns
    -------
    str or None
        ``acceptable``, ``unacceptable``, ``""`` where none is stated, None where the value is not understood.

    Examples
    --------
    >>> expected_status("G"), expected_status("??"), expected_status("maybe")
    ('acceptable', 'unacceptable', None)
    """
    return _STATUS.get(value.strip().lower())


def understand_columns(
    columns: Sequence[str],
    fields: Mapping[str, Field],
    *,
    mapping: Mapping[str, str] | None = None,
    file: str = "",
) -> dict[str, str]:
    """Find which column of a file holds which field.

    Parameters
    ----------
    columns : sequence of str
        The file's columns.
    fields : mapping of str to Field
        The fields looked for, such as :data:`SENTENCE_FIELDS`.
    mapping : mapping of str to str, optional
        Our name → the file's name; goes before every guess. An empty file's name says that the field is
        absent.
    file : str
        Named in errors.

    Returns
    -------
    dict of str to str
        Our name → the file's name, for the fields that were found.

    Raises
    ------
    MissingColumns
        If the mapping names a column the file lacks.

    Examples
    --------
    >>> understand_columns(["ID", "text", "Cond"], SENTENCE_FIELDS)
    {'sentence_id': 'ID', 'sentence': 'text', 'condition': 'Cond'}
    """
    chosen = {ours: theirs for ours, theirs in (mapping or {}).items() if ours in fields}
    absent = [theirs for theirs in chosen.values() if theirs and theirs not in columns]
    if absent:
        raise MissingColumns(absent, found=columns, file=file)
    by_simple_name = {simple_name(column): column for column in reversed(columns)}
    taken = set(chosen.values())
    for name, field in fields.items():
        for known in (name, *field.aliases):
            column = by_simple_name.get(known)
            if name not in chosen and column is not None and column not in taken:
                chosen[name] = column
                taken.add(column)
    return {name: chosen[name] for name in fields if chosen.get(name)}


def parse_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Read ``our_column=their_column`` pairs.

    Parameters
    ----------
    pairs : sequence of str

    Returns
    -------
    dict of str to str

    Raises
    ------
    BadInput
        If a pair has no equals sign, or our side is not a column that materials have.

    Examples
    --------
    >>> parse_mapping(["sentence=Satz", "item=Nr"])
    {'sentence': 'Satz', 'item': 'Nr'}
    """
    known = list(dict.fromkeys([*SENTENCE_FIELDS, *WIDE_FIELDS, *PAIR_FIELDS]))
    mapping = {}
    for pair in pairs:
        ours, sign, theirs = pair.partition("=")
        if not sign:
            raise BadInput(f"{pair!r} is not a mapping.", remedy="Write our_column=their_column.")
        if ours.strip() not in known:
            raise UnknownName("column", ours.strip(), known)
        mapping[ours.strip()] = theirs.strip()
    return mapping
