"""Every convention behind a model's scores, in words: what the foot of a table names."""

from collections.abc import Mapping
from typing import Any

from analysis.scoring.base import FLAG_NO_FIRST, FLAG_NORMALISED, FLAG_TOO_LONG, FLAGS
from analysis.scoring.measures import FORMULAS

NOT_RECORDED, NOT_HAD = "not recorded", "–"
DIGITS, LONG = 12, 40
METHODS = {
    "ll": "log probability, left to right",
    "ngram": "n-gram log probability",
    "pll": "pseudo-log-likelihood, one token masked at a time",
    "pll-l2r": "pseudo-log-likelihood, the rest of the word masked too",
    "cls-confidence": "signed confidence of a classifier",
    "cls-margin": "difference of a classifier's logits",
}
WORDS = ("one_prefix", "two_prefix")
ROWS = {"model": "every row of the model", "tokenizer": "the tokenizer's tokens"}
SERVERS = "the server's"
OWN_MARKS = ("pll", "pll-l2r", "cls-confidence", "cls-margin")
TOO_LONG, NO_FIRST, NORMALISED = (
    next(name for name, flag in FLAGS.items() if flag == one)
    for one in (FLAG_TOO_LONG, FLAG_NO_FIRST, FLAG_NORMALISED)
)


def scoring_conventions(record: Mapping[str, Any]) -> dict[str, str]:
    """Name the conventions of one model's scores.

    Parameters
    ----------
    record : mapping
        ``columns`` (each ``name:measure``), ``spec``, ``tokens``, ``unknown_tokens`` and ``flags`` as
        ``manage.py score`` records them; ``source`` where the numbers come from scores made before.

    Returns
    -------
    dict of str to str
        The same keys, in the same order, for every model: what scores from elsewhere do not tell is
        "not recorded", what a kind of model has not is "–".

    Examples
    --------
    >>> scoring_conventions({})["leading space"]
    'not recorded'
    >>> spec = {"uri": "arpa:x.arpa", "revision": "sha256:0", "method": "ngram", "bos": True, "eos": False}
    >>> found = scoring_conventions({"spec": spec, "columns": ["x:lp"], "tokens": 4, "unknown_tokens": 1})
    >>> found["measure"], found["end"], found["unknown tokens"], found["truncation"]
    ('lp: log p', 'not scored', '1 of 4 (25.0%)', 'none: nothing is cut')
    """
    source = record.get("source")
    said = {**record, **source, "columns": record.get("columns")} if source else record
    spec: Mapping[str, Any] = said.get("spec") or {}
    options: Mapping[str, str] = spec.get("options") or {}
    is_known = bool(spec) and spec.get("method") != "csv"
    found = {
        "model": str(spec.get("uri") or NOT_RECORDED),
        "revision": _short(spec.get("revision") or NOT_RECORDED),
        "method": METHODS.get(_asked(spec), _asked(spec)),
        "measure": _measures(said.get("columns") or []),
        "beginning": _beginning(spec, options),
        "end": _end(spec),
        "leading space": options.get("space", NOT_HAD),
        "casing": _casing(spec, said.get("flags") or {}),
        "tokens": _tokens(spec, options),
        "punctuation": NOT_HAD if spec.get("tokens") == "model" else spec.get("punctuation", NOT_HAD),
        "region": _region(said.get("columns") or [], options),
        "precision": spec.get("dtype", NOT_HAD),
        "vocabulary": ROWS.get(options.get("vocabulary", ""), NOT_HAD),
        "single tokens": _single(spec, options),
        "unknown tokens": _unknown(said, options),
        "truncation": _truncation(said.get("flags") or {}),
        "sentences flagged": _flagged(said.get("flags") or {}),
    }
    if not is_known:
        kept = ("model", "revision") if spec else ()
        told = {name: text if name in kept else NOT_RECORDED for name, text in found.items()}
        return told | {"measure": f"{found['measure']}, a column taken as log p"}
    return found


def conventions_text(conventions: Mapping[str, str]) -> str:
    """Say conventions in a sentence; what is not recorded is named together, at the end.

    Parameters
    ----------
    conventions : mapping of str to str
        From :func:`scoring_conventions`.

    Returns
    -------
    str

    Examples
    --------
    >>> conventions_text({"measure": "lp: log p", "vocabulary": "–", "end": "not recorded"})
    'measure lp: log p; not recorded: end'
    """
    told = [f"{name} {text}" for name, text in conventions.items() if text not in (NOT_HAD, NOT_RECORDED)]
    lacking = [name for name, text in conventions.items() if text == NOT_RECORDED]
    return "; ".join([*told, *([f"{NOT_RECORDED}: {', '.join(lacking)}"] if lacking else [])])


def _asked(spec: Mapping[str, Any]) -> str:
    """The method; critical words are asked for by the same one as whole sentences."""
    return str(spec.get("method")).partition(" ")[0]


def _measures(columns: list[str]) -> str:
    names = [str(column).rpartition(":")[2] for column in columns]
    known = [f"{name}: {FORMULAS[name]}" for name in names if name in FORMULAS]
    return ", ".join(known) or "as given"


def _beginning(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """What stands before the first token."""
    if _asked(spec) in OWN_MARKS:
        return "the tokenizer's own mark, not scored"
    if _asked(spec) == "ngram":
        return "<s>" if spec.get("bos") else "no mark"
    if spec.get("tokens") != "model":
        return "<eos>"
    mark = options.get("mark") or options.get("start") or "marked"
    return mark if spec.get("bos") else f"no mark, {NO_FIRST}"


def _end(spec: Mapping[str, Any]) -> str:
    if _asked(spec) in OWN_MARKS:
        return "the tokenizer's own mark, not scored"
    return "scored" if spec.get("eos") else "not scored"


def _casing(spec: Mapping[str, Any], flags: Mapping[str, int]) -> str:
    """What we do to capitals, and whether a model's own tokenizer changes letters beside that."""
    told, n = str(spec.get("casing", NOT_HAD)), flags.get(NORMALISED, 0)
    is_its_own = spec.get("tokens") == "model" and n
    return f"{told}, then as the tokenizer normalises ({n:,} sentences)" if is_its_own else told


def _tokens(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    tokenizer = options.get("tokenizer", "")
    if tokenizer == SERVERS:
        return tokenizer
    if spec.get("tokens") != "model":
        return f"{spec.get('tokens')}{' ' + options['jieba'] if 'jieba' in options else ''}"
    return f"the model's own{', tokenizer ' + _short(tokenizer) if tokenizer else ''}"


def _region(columns: list[str], options: Mapping[str, str]) -> str:
    """Which tokens count: a critical word's begin and end somewhere."""
    if not any(column.rpartition(":")[2] in WORDS for column in columns):
        return "whole sentence"
    is_corrected = options.get("boundary") == "corrected"
    return f"tokens that reach into the critical word, boundaries {'' if is_corrected else 'not '}corrected"


def _single(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    if _asked(spec) == "ngram":
        return "the model's 1-grams"
    return _short(options.get("unigram", NOT_HAD))


def _unknown(record: Mapping[str, Any], options: Mapping[str, str]) -> str:
    if options.get("tokenizer") == SERVERS:
        return "not known: the server cuts"
    n, unknown = record.get("tokens"), record.get("unknown_tokens")
    if not n or unknown is None:
        return NOT_RECORDED
    return f"{unknown:,} of {n:,} ({unknown / n:.1%})" if unknown else "none"


def _truncation(flags: Mapping[str, int]) -> str:
    n = flags.get(TOO_LONG, 0)
    return f"none: {n:,} sentences too long, not scored" if n else "none: nothing is cut"


def _flagged(flags: Mapping[str, int]) -> str:
    """Flags of single sentences; the other two are said of beginning and truncation."""
    others = [f"{name} {n:,}" for name, n in flags.items() if name not in (TOO_LONG, NO_FIRST)]
    return ", ".join(others) or "none"


def _short(value: object) -> str:
    text = str(value)
    kind, colon, digest = text.rpartition(":")
    return f"{kind}{colon}{digest[:DIGITS]}" if len(text) >= LONG else text
