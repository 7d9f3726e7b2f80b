"""The fields of material tables, their meanings and aliases, and the recognition of columns."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from analysis.errors import BadInput, MissingColumns, UnknownName

FORMATS = ("auto", "blimp", "table", "climp", "li-adger", "syntaxgym")
"""Formats of material files, as commands, pages and the API offer them."""


@dataclass(frozen=True)
class Field:
    """A column of a material table.

    Attributes
    ----------
    name : str
        Name of the field.
    meaning : str
        One sentence for the documentation and the mapping page.
    aliases : tuple of str
        Column names that are recognized without a mapping, in order of preference.
    max_length : int
        Maximum number of characters; 0 for no limit.
    """

    name: str
    meaning: str
    aliases: tuple[str, ...] = ()
    max_length: int = 0


def _table(*fields: Field) -> dict[str, Field]:
    return {field.name: field for field in fields}


_GROUPS = (
    Field(
        "item",
        "One lexicalization, in one or more conditions.",
        (
            "item_id",
            "item_number",
            "itemid",
            "item_set",
            "itemset",
            "item_no",
            "item_nr",
            "itemno",
            "lexicalization",
            "lexicalisation",
        ),
        250,
    ),
    Field(
        "condition",
        "The item's cell of the design; several columns joined by + are its factors.",
        ("cond", "condition_name"),
        200,
    ),
    Field("paradigm", "Group of items of one contrast.", ("uid",), 200),
    Field("phenomenon", "Group of paradigms.", ("linguistics_term",), 200),
)

#: Field, and attribute of stored sentences: text above a sentence, which models read and do not score.
CONTEXT = "context"
MOST_CONTEXT_LEVELS = 6  # values of one word that repeat: a factor called context

#: One sentence per row.
SENTENCE_FIELDS = _table(
    Field("sentence_id", "Name of the sentence, unique in the set.", ("id", "sent_id", "stimulus_id"), 250),
    Field(
        "sentence",
        "The text, kept exactly as given.",
        ("text", "sentence_text", "stimulus", "stimuli", "stim"),
    ),
    *_GROUPS,
    Field(
        "expected",
        "The author's intended status: acceptable or unacceptable (also 1/0, good/bad, g/*).",
        (
            "label",
            "expected_status",
            "acceptability",
            "acceptable",
            "grammatical",
            "grammaticality",
            "intended",
            "intended_status",
        ),
        12,
    ),
    Field(
        "filler",
        "Whether the row is a filler: true, yes, 1 or filler.",
        ("is_filler", "fillers", "item_type"),
    ),
    Field("mark", "The mark of the source, such as * or ??.", ("label_notes", "judgment_mark"), 12),
    Field("critical_region", "The words on which the contrast turns.", ("crucial_item",), 200),
    Field(
        CONTEXT,
        "Text or dialogue above the sentence; models read it and do not score it.",
        ("preceding_context", "dialogue", "dialog", "context_text", "context_sentence"),
    ),
    Field("sentence_language", "BCP 47 tag, only where it differs from the set's.", (), 35),
)

#: One pair per row, both sentences written out.
WIDE_FIELDS = _table(
    Field("pair_id", "Name of the pair, unique in the set.", ("pairid", "pair"), 250),
    Field("good", "The acceptable sentence.", ("sentence_good", "good_sentence", "acceptable_sentence")),
    Field("bad", "The unacceptable sentence.", ("sentence_bad", "bad_sentence", "unacceptable_sentence")),
    *_GROUPS,
    Field(
        CONTEXT,
        "Text or dialogue above both sentences; models read it and do not score it.",
        ("preceding_context", "dialogue", "dialog", "context_text", "context_sentence"),
    ),
    Field("context_good", "The same before the acceptable sentence only.", ("good_context",)),
    Field("context_bad", "The same before the unacceptable sentence only.", ("bad_context",)),
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

#: What a column may be beside a field: kept with each sentence although it tells sentences of an item apart,
#: or left out of the set. Several columns are joined by ``+``.
COLUMN_USES = {
    "attribute": "Kept with each sentence; never a factor.",
    "ignore": "Left out of the material set.",
}
JOINT = "+"
"""Joins columns in a mapping."""

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


def context_attribute(*contexts: object) -> dict[str, str]:
    """Return the sentence attribute for its context, the first that is not empty; none where all are.

    A list of turns, as such or as JSON, becomes a line for each turn: texts, or objects with a text and,
    optionally, a speaker. Other JSON is text.

    Examples
    --------
    >>> context_attribute("", "It rained. "), context_attribute(None)
    ({'context': 'It rained.'}, {})
    >>> context_attribute('[{"speaker": "A", "text": "Who left?"}, {"text": "No idea."}]')
    {'context': 'A: Who left?\\nNo idea.'}
    """
    texts = (_context_text(context) for context in contexts if context is not None)
    text = next((text for text in texts if text), "")
    return {CONTEXT: text} if text else {}


#: Names of a turn's parts in lists of turns; those of chat messages among them.
TURN_SPEAKER, TURN_TEXT = ("speaker", "role", "name"), ("text", "content", "utterance", "turn")


def _context_text(context: object) -> str:
    text = str(context).strip()
    turns = context
    if text.startswith("["):
        try:
            turns = context if isinstance(context, list) else json.loads(text)
        except (ValueError, RecursionError):
            return text
    lines = [_turn(turn) for turn in turns] if isinstance(turns, list) else []
    return "\n".join(lines) if lines and all(lines) else text


def _turn(turn: object) -> str:
    """A turn as a line; empty for a value that is no turn."""
    if not isinstance(turn, dict):
        return turn.strip() if isinstance(turn, str) else ""
    speaker, text = (
        next((str(turn[name]).strip() for name in names if turn.get(name)), "")
        for names in (TURN_SPEAKER, TURN_TEXT)
    )
    return f"{speaker}: {text}" if speaker and text else text


def are_levels(values: Iterable[str]) -> bool:
    """Whether the values of a column named as the context are levels of a factor rather than texts.

    Examples
    --------
    >>> are_levels(["neutral", "biased", "neutral", "biased"]), are_levels(["It rained.", ""])
    (True, False)
    """
    counts = Counter(text for value in values if (text := value.strip()))
    is_repeated = 1 < len(counts) <= MOST_CONTEXT_LEVELS and min(counts.values()) > 1
    return is_repeated and not any(re.search(r"[\s.?!。？！؟]", text) for text in counts)


def simple_name(name: str) -> str:
    """Normalize a column name for comparison: lower case, words joined by underscores.

    Examples
    --------
    >>> simple_name(" Sentence.ID "), simple_name("Filler?")
    ('sentence_id', 'filler')
    """
    return re.sub(r"\W+", "_", name.strip().lower()).strip("_")


def expected_status(value: str) -> str | None:
    """Parse an author's intended status; None for an unknown one.

    Examples
    --------
    >>> expected_status("G"), expected_status("??"), expected_status("maybe")
    ('acceptable', 'unacceptable', None)
    """
    return _STATUS.get(value.strip().lower())


def recognize_columns(
    columns: Sequence[str],
    fields: Mapping[str, Field],
    *,
    mapping: Mapping[str, str] | None = None,
    file: str = "",
) -> dict[str, str]:
    """Map fields to the columns of a file, by the mapping or else by name and alias.

    Examples
    --------
    >>> recognize_columns(["ID", "text", "Cond"], SENTENCE_FIELDS)
    {'sentence_id': 'ID', 'sentence': 'text', 'condition': 'Cond'}
    """
    chosen = {name: column for name, column in (mapping or {}).items() if name in fields}
    absent = [column for column in chosen.values() if column and column not in columns]
    if absent:
        raise MissingColumns(absent, existing=columns, file=file)
    by_simple_name = {simple_name(column): column for column in reversed(columns)}
    taken = set(chosen.values())
    for name, field in fields.items():
        for alias in (name, *field.aliases):
            column = by_simple_name.get(alias)
            if name not in chosen and column is not None and column not in taken:
                chosen[name] = column
                taken.add(column)
    return {name: chosen[name] for name in fields if chosen.get(name)}


#: Our column → names that may stand for it and are proposed, not taken.
NEAR_NAMES: Mapping[str, tuple[str, ...]] = {
    ours: tuple(names.split())
    for ours, names in (
        (
            "participant",
            "subj subjectid subjid subj_id subject_nr subject_number ppt ppt_id pid prolific_pid prolific_id "
            "prolificid user user_id userid respondent respondent_id informant speaker annotator "
            "annotator_id anon_id random_id participant_nr participant_no participant_number "
            "participantnumber turker judge coder responseid teilnehmer versuchsperson proband vp vpn_code "
            "participante sujeto sujet informante",
        ),
        (
            "item",
            "itemnum itemno itemnr item_num item_no item_nr itemnumber item_code items stim stim_id stimid "
            "stimulus_number lexicalization lex lexset frame_id set itemset item_set satznr "
            "satznummer itemnummer",
        ),
        (
            "condition",
            "condition_name conditions condition_id cond_id conditionid cnd cell bedingung condicion",
        ),
        (
            "sentence",
            "sent stim_text stimulus_text target_sentence utterance item_text sentences satz frase oracion "
            "phrase enonce",
        ),
        (
            "value",
            "score scores resp answer answers rating_value judgments judgements ratings acceptability_rating "
            "rate choice response_value likert slider slider_value estimate acceptability_judgment "
            "likert_rating zscore naturalness urteil bewertung antwort juicio jugement reponse respuesta",
        ),
        ("rt_ms", "response_time responsetime rt_in_ms latency reactiontime duration time_taken"),
        ("kind", "type trialtype itemtype stimulus_type exp_type is_filler filler"),
        ("expected", "expected_status label gold correct_answer good_bad"),
        (
            "context",
            "preceding_sentence preceding_text previous_sentence prior_context previous_context preamble "
            "vignette scenario discourse_context lead_in leadin",
        ),
    )
}

_ENDINGS = frozenset(
    {"", "id", "ids", "no", "nr", "num", "nmb", "number", "name", "code", "index", "key", "type"}
)
_ANSWER_ENDINGS = ("_rating", "_judgment", "_judgement", "_score")
_NEAR = 0.85  # similarity of two names, from 0 to 1


def near_columns(columns: Sequence[str], fields: Mapping[str, Field]) -> dict[str, list[str]]:
    """Map fields to columns that are proposed, not taken: those of :data:`NEAR_NAMES`, or of a like spelling.

    Examples
    --------
    >>> near_columns(["ItemNum", "my_sentense", "colour"], SENTENCE_FIELDS)
    {'item': ['ItemNum']}
    >>> near_columns(["Sentense", "utterance"], SENTENCE_FIELDS)
    {'sentence': ['utterance', 'Sentense']}
    """
    near: dict[str, list[str]] = {}
    for name, field in fields.items():
        words = [word.replace("_", "") for word in (name, *field.aliases)]
        listed = [column for column in columns if simple_name(column) in NEAR_NAMES.get(name, ())]
        if name == "value":
            listed += [c for c in columns if c not in listed and simple_name(c).endswith(_ANSWER_ENDINGS)]
        spelled = [
            column
            for column in columns
            if column not in listed
            and any(_is_near(simple_name(column).replace("_", ""), word) for word in words)
        ]
        if listed or spelled:
            near[name] = listed + spelled
    return near


def _is_near(name: str, word: str) -> bool:
    if name.startswith(word) and name[len(word) :].rstrip("0123456789") in _ENDINGS:
        return True
    return min(len(name), len(word)) >= 5 and SequenceMatcher(None, name, word).ratio() >= _NEAR


def parse_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Parse ``our_column=their_column`` pairs.

    Examples
    --------
    >>> parse_mapping(["sentence=Satz", "item=Nr"])
    {'sentence': 'Satz', 'item': 'Nr'}
    """
    names = list(dict.fromkeys([*SENTENCE_FIELDS, *WIDE_FIELDS, *PAIR_FIELDS, *COLUMN_USES]))
    mapping: dict[str, str] = {}
    for pair in pairs:
        name, sign, column = (part.strip() for part in pair.partition("="))
        if not sign:
            raise BadInput(f"{pair!r} is not a mapping.", remedy="Write our_column=their_column.")
        if name not in names:
            raise UnknownName("column", name, names)
        mapping[name] = (
            f"{mapping[name]}{JOINT}{column}"
            if name in mapping and name in {*COLUMN_USES, "sentence"}
            else column
        )
    return mapping


def mapped_columns(column: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that the right side of a mapping names; a column may itself contain a plus.

    Examples
    --------
    >>> mapped_columns("structure+distance", ["structure", "distance"])
    ['structure', 'distance']
    >>> mapped_columns("a+b", ["a+b"]), mapped_columns("", [])
    (['a+b'], [])
    """
    if column in columns or not column:
        return [column] if column else []
    return [part.strip() for part in column.split(JOINT)]
