"""Conventions behind a model's scores, in words for the notes of a table, and the records that state them."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from .base import FLAG_NO_FIRST, FLAG_NORMALISED, FLAG_TOO_LONG, FLAGS
from .measures import FORMULAS
from .words.sentence_check import check_text

NOT_RECORDED, NOT_HAD = "not recorded", "–"
DIGITS, LONG = 12, 40
METHODS = {
    "ll": "log probability, left to right",
    "ngram": "n-gram log probability",
    "pll": "pseudo-log-likelihood, one token masked at a time",
    "pll-l2r": "pseudo-log-likelihood, the rest of the word masked too",
    "mntp-pll": "masked next token prediction, one token masked at a time",
    "mntp-pll-l2r": "masked next token prediction, the rest of the word masked too",
    "diffusion": "lower bound on log probability, by random masks",
    "seq2seq": "log probability by the decoder, after a source",
    "cls-confidence": "signed confidence of a classifier",
    "cls-margin": "difference of a classifier's logits",
    "yes_no": "log odds of the answer yes to a prompt",
    "rating": "expected rating in answer to a prompt",
    "forced_choice": "log odds of being chosen over the other sentence in answer to a prompt",
}
WORDS = ("one_prefix", "two_prefix")
WORD_RULES = {
    "space": "between white space; single characters in scripts without spaces",
    "punctuation": "between white space and punctuation marks; single characters in scripts without spaces",
    "phrases-ja": "between white space; BudouX's phrases of Japanese",
    "phrases-zh-hans": "between white space; BudouX's phrases of simplified Chinese",
    "phrases-zh-hant": "between white space; BudouX's phrases of traditional Chinese",
    "phrases-th": "between white space; BudouX's phrases of Thai",
}
ROWS = {"model": "every row of the model", "tokenizer": "the tokenizer's tokens"}
SERVERS = "the server's"
OWN_MARKS = ("pll", "pll-l2r", "diffusion", "cls-confidence", "cls-margin")
TOO_LONG, NO_FIRST, NORMALISED = (
    next(name for name, flag in FLAGS.items() if flag == number)
    for number in (FLAG_TOO_LONG, FLAG_NO_FIRST, FLAG_NORMALISED)
)


def scoring_conventions(record: Mapping[str, Any]) -> dict[str, str]:
    """Name the conventions of one model's scores.

    Notes
    -----
    The same keys, in the same order, for every model: what is missing from the record is "not recorded",
    what a kind of model does not have is "–".

    Examples
    --------
    >>> scoring_conventions({})["leading space"]
    'not recorded'
    >>> spec = {"uri": "arpa:x.arpa", "revision": "sha256:0", "method": "ngram", "bos": True, "eos": False}
    >>> record = {"spec": spec, "columns": ["x:lp"], "tokens": 4, "unknown_tokens": 1}
    >>> conventions = scoring_conventions(record)
    >>> [conventions[name] for name in ("measure", "end", "unknown tokens", "truncation")]
    ['lp: log p', 'not scored', '1 of 4 (25.0%)', 'none: nothing is cut']
    """
    source = record.get("source")
    # Scores read from a table of ours are described by the record of that table.
    facts = {**record, **source, "columns": record.get("columns")} if source else record
    spec: Mapping[str, Any] = facts.get("spec") or {}
    options: Mapping[str, str] = spec.get("options") or {}
    is_recorded = bool(spec) and spec.get("method") != "csv"
    conventions = {
        "model": str(spec.get("uri") or NOT_RECORDED),
        "revision": _short(spec.get("revision") or NOT_RECORDED),
        "method": _method_text(spec, options),
        "measure": _measures(facts.get("columns") or []),
        "beginning": _beginning(spec, options),
        "end": _end(spec),
        "leading space": options.get("space", NOT_HAD),
        "casing": _casing(spec, facts.get("flags") or {}),
        "tokens": _tokens(spec, options),
        "words masked": _words_masked(spec, options),
        "punctuation": NOT_HAD if spec.get("tokens") == "model" else spec.get("punctuation", NOT_HAD),
        "context": options.get("context", NOT_HAD),
        "region": _region(facts.get("columns") or [], options),
        "precision": spec.get("dtype", NOT_HAD),
        "vocabulary": ROWS.get(options.get("vocabulary", ""), NOT_HAD),
        "single tokens": _single(spec, options),
        "unknown tokens": _unknown(facts, options),
        "truncation": _truncation(facts.get("flags") or {}),
        "sentences as read": _read(facts, options),
        "sentences flagged": _list_flags(facts.get("flags") or {}),
    }
    if not is_recorded:
        recorded = ("model", "revision") if spec else ()
        visible = {name: text if name in recorded else NOT_RECORDED for name, text in conventions.items()}
        return visible | {"measure": f"{conventions['measure']}, a column taken as log p"}
    return conventions


def conventions_text(conventions: Mapping[str, str]) -> str:
    """Join conventions to a sentence; those not recorded are listed at the end.

    Examples
    --------
    >>> conventions_text({"measure": "lp: log p", "vocabulary": "–", "end": "not recorded"})
    'measure lp: log p; not recorded: end'
    """
    recorded = [f"{name} {text}" for name, text in conventions.items() if text not in (NOT_HAD, NOT_RECORDED)]
    lacking = [name for name, text in conventions.items() if text == NOT_RECORDED]
    return "; ".join([*recorded, *([f"{NOT_RECORDED}: {', '.join(lacking)}"] if lacking else [])])


def _method(spec: Mapping[str, Any]) -> str:
    """Return the method without its suffix for critical words."""
    return str(spec.get("method")).partition(" ")[0]


def _method_text(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """Describe the method, with the samples of an estimate and the temperature."""
    parts = [METHODS.get(_method(spec), _method(spec))]
    if options.get("tokenizations") == "marginal":
        parts.append("summed over segmentations into tokens")
    if "samples" in options:
        parts.append(f"{options['samples']} samples (seed {options['seed']})")
    if "temperature" in options:
        parts.append(f"temperature {options['temperature']}")
    return ", ".join(parts)


def _measures(columns: list[str]) -> str:
    names = [str(column).rpartition(":")[2] for column in columns]
    formulas = [f"{name}: {FORMULAS[name]}" for name in names if name in FORMULAS]
    return ", ".join(formulas) or "as given"


def _beginning(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """Describe what precedes the first token."""
    if _method(spec) in OWN_MARKS:
        return "the tokenizer's own mark, not scored"
    if "chat_template" in options:
        return f"chat template {_short(options['chat_template'])}"
    if _method(spec) == "ngram":
        return "<s>" if spec.get("bos") else "no mark"
    if spec.get("tokens") != "model":
        return "<eos>"
    if options.get("tokenizer") == SERVERS and not spec.get("bos"):
        return f"the server's mark if it writes one, else no mark, {NO_FIRST}"
    mark = options.get("mark") or options.get("start") or "marked"
    return mark if spec.get("bos") else f"no mark, {NO_FIRST}"


def _end(spec: Mapping[str, Any]) -> str:
    if _method(spec) in OWN_MARKS:
        return "the tokenizer's own mark, not scored"
    return "scored" if spec.get("eos") else "not scored"


def _casing(spec: Mapping[str, Any], flags: Mapping[str, int]) -> str:
    """Describe the treatment of capitals, by us and by the model's own tokenizer."""
    casing, n = str(spec.get("casing", NOT_HAD)), flags.get(NORMALISED, 0)
    is_its_own = spec.get("tokens") == "model" and n
    return f"{casing}, then as the tokenizer normalises ({n:,} sentences)" if is_its_own else casing


def _tokens(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    tokenizer = options.get("tokenizer", "")
    if tokenizer == SERVERS:
        return tokenizer
    if spec.get("tokens") != "model":
        return f"{spec.get('tokens')}{' ' + options['jieba'] if 'jieba' in options else ''}"
    return f"the model's own{', tokenizer ' + _short(tokenizer) if tokenizer else ''}"


def _words_masked(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """Describe the words whose later pieces are masked; earlier versions took those of the tokenizer."""
    if not _method(spec).endswith("pll-l2r"):
        return NOT_HAD
    rule = WORD_RULES.get(options.get("words", ""), "the tokenizer's own")
    return f"{rule}, version {options['budoux']}" if "budoux" in options else rule


def _region(columns: list[str], options: Mapping[str, str]) -> str:
    """Describe which tokens are scored: those of the sentence, or of a critical word."""
    if not any(column.rpartition(":")[2] in WORDS for column in columns):
        return "whole sentence"
    is_corrected = options.get("boundary") == "corrected"
    return f"tokens that reach into the critical word, boundaries {'' if is_corrected else 'not '}corrected"


def _single(spec: Mapping[str, Any], options: Mapping[str, str]) -> str:
    if _method(spec) == "ngram":
        return "the model's 1-grams"
    return _short(options.get("unigram", NOT_HAD))


def _unknown(record: Mapping[str, Any], options: Mapping[str, str]) -> str:
    if options.get("tokenizer") == SERVERS:
        return "not known: the server cuts"
    n, unknown = record.get("tokens"), record.get("unknown_tokens")
    if not n or unknown is None:
        return NOT_RECORDED
    return f"{unknown:,} of {n:,} ({unknown / n:.1%})" if unknown else "none"


def _read(record: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """Describe the check of what the model reads of the sentences."""
    if options.get("tokenizer") == SERVERS:
        return "not known: the server cuts"
    return check_text(record.get("check")) or NOT_RECORDED


def _truncation(flags: Mapping[str, int]) -> str:
    n = flags.get(TOO_LONG, 0)
    return f"none: {n:,} sentences too long, not scored" if n else "none: nothing is cut"


def _list_flags(flags: Mapping[str, int]) -> str:
    """List the flags of sentences that no other convention reports."""
    counts = [f"{name} {n:,}" for name, n in flags.items() if name not in (TOO_LONG, NO_FIRST)]
    return ", ".join(counts) or "none"


def _short(value: object) -> str:
    text = str(value)
    kind, colon, digest = text.rpartition(":")
    return f"{kind}{colon}{digest[:DIGITS]}" if len(text) >= LONG else text


RECORD = ".spec.json"
COUNTED = ".counts.parquet"
SOURCE = ("spec_id", "spec", "tokens", "unknown_tokens", "flags", "check")
COPIED = ("model", "columns", *SOURCE, "source")


def recorded_specs(paths: Sequence[str | Path], *, columns: Collection[str]) -> list[dict[str, Any]]:
    """Read the records beside files of scores: the name of the file, the recorded facts, and conventions."""
    records = []
    for path in map(Path, paths):
        content = _read_record(path.with_suffix(RECORD))
        is_its_own = bool(content.get("columns")) and set(content["columns"]) <= set(columns)
        record = {"file": path.name} | ({name: content.get(name) for name in COPIED} if is_its_own else {})
        records.append(record | {"conventions": scoring_conventions(record)})
    return records


def read_source(path: str | Path, *, column: str, n_sentences: int) -> dict[str, Any] | None:
    """Return how the numbers of a table were computed, if ``manage.py score`` wrote it."""
    path = Path(path)
    is_counts = path.name.endswith(COUNTED)
    stem = path.name.removesuffix(COUNTED) if is_counts else path.stem
    content = _read_record(path.with_name(stem + RECORD))
    is_its_own = content.get("sentences") == n_sentences and (
        is_counts or column in content.get("columns", ())
    )
    if not is_its_own:
        return None
    return {name: content.get(name) for name in SOURCE} | (content.get("source") or {})


def _read_record(path: Path) -> dict[str, Any]:
    """Read a record; empty if there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and isinstance(content.get("columns"), list) else {}


def recorded_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Describe each record in a line: the model, its exact revision and every convention."""
    return "\n".join(_line(record) for record in records)


def _line(record: Mapping[str, Any]) -> str:
    if not record.get("spec"):
        name = record.get("file") or record["model"]
        return f"Scores of {name}: nothing is recorded about how they were made."
    return f"Scores of {record['model']}: {conventions_text(record['conventions'])}."
