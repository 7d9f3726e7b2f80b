"""Surprisal of every token, word and region, with the characters of each."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...errors import BadInput, MissingColumns
from ...table_forms import Form, read_form
from ..base import FLAG_NO_FIRST, Progress, Scorer, Scores
from ..frames import ScoredSentences, context_column, score_sentences
from .contexts import model_context_rule
from .regions import score_words

Floats = npt.NDArray[np.float64]
BITS = 1 / np.log(2.0)  # bits of a nat
COLUMNS = (
    "sentence_id",
    "unit",
    "position",
    "region",
    "text",
    "start",
    "end",
    "n_tokens",
    "surprisal_nats",
    "surprisal_bits",
    "note",
)
REGIONS = Form(("sentence_id", "region"), ("text", "start", "end"), ("start", "end"))
CRITICAL = "critical"
END_NOTE = "end of the sentence"
SHARED_NOTE = "shares a token with its neighbour"
INSIDE_NOTE = "begins inside a token of what stands before it"
FIRST_NOTE = "its first token is not scored: there is no beginning mark"
PREFIX_NOTE = "no prefix, so its boundaries cannot be corrected"


class Region(NamedTuple):
    """A stretch of a sentence, from its first character to the one after its last."""

    name: str
    start: int
    end: int
    note: str = ""


Regions = Mapping[str, Sequence[Region]]


def require_tokens(model: Scorer) -> None:
    """Raise BadInput if a model has no tokens, such as a classifier or a table."""
    if "tokens" not in model.capabilities:
        raise without_tokens(model.spec.uri.partition(":")[0])


def without_tokens(kind: str) -> BadInput:
    """Return the error of a kind of model that has no tokens."""
    return BadInput(
        f"{kind}: has no tokens, so it gives no surprisal of them.",
        remedy="Use an n-gram, recurrent, causal, masked or served model.",
    )


def read_regions(path: str | Path, sentences: pd.DataFrame) -> dict[str, list[Region]]:
    """Read a file of regions by sentence.

    Notes
    -----
    Columns ``sentence_id``, ``region`` (its name) and either ``text``, looked for from the end of the region
    before it, or ``start`` and ``end``, characters counted from 0. Rows of other sentences are left out.
    """
    frame = read_form(path, REGIONS)
    has_text = "text" in frame.columns
    if not has_text and not {"start", "end"} <= set(frame.columns):
        raise MissingColumns(["text (or start and end)"], existing=list(frame.columns), file=str(path))
    by_id = dict(zip(sentences["sentence_id"].astype(str), sentences["sentence"].astype(str), strict=True))
    regions: dict[str, list[Region]] = {}
    for row, cells in zip(frame.index, frame.to_dict("records"), strict=True):
        sentence = by_id.get(str(cells["sentence_id"]))
        if sentence is None:
            continue
        earlier = regions.setdefault(str(cells["sentence_id"]), [])
        if has_text:
            text = str(cells["text"]).strip()
            start = sentence.find(text, earlier[-1].end if earlier else 0) if text else -1
            end = start + len(text)
        else:
            start, end = (-1 if np.isnan(cells[name]) else int(cells[name]) for name in ("start", "end"))
        if not 0 <= start < end <= len(sentence):
            raise BadInput(
                f"the sentence {sentence!r} has no such region.",
                file=str(path),
                row=int(row),
                column="text" if has_text else "start",
                remedy="Regions are written as in the sentence, in its order.",
            )
        earlier.append(Region(str(cells["region"]), start, end))
    if not regions:
        raise BadInput("no region is one of these sentences.", file=str(path), column="sentence_id")
    return regions


def critical_regions(sentences: pd.DataFrame) -> dict[str, list[Region]]:
    """Return the region that the column ``critical_region`` names, where the sentence has it once."""
    if "critical_region" not in sentences:
        return {}
    regions: dict[str, list[Region]] = {}
    columns = (sentences[name].tolist() for name in ("sentence_id", "sentence", "critical_region"))
    for name, sentence, region in zip(*columns, strict=True):
        text = region.strip() if isinstance(region, str) else ""
        # Scripts without spaces have no boundaries of words.
        patterns = (rf"(?<!\w){re.escape(text)}(?!\w)", re.escape(text))
        matches = [[match.start() for match in re.finditer(pattern, sentence)] for pattern in patterns]
        places = matches[0] or matches[1]
        if text and len(places) == 1:
            regions[str(name)] = [Region(CRITICAL, places[0], places[0] + len(text))]
        elif text:
            note = "is not in the sentence" if not places else f"is in the sentence {len(places)} times"
            regions[str(name)] = [Region(CRITICAL, 0, 0, f"{text!r} {note}")]
    return regions


def surprisal_table(
    model: Scorer,
    sentences: pd.DataFrame,
    scores: Scores,
    *,
    regions: Mapping[str, Sequence[Region]] | None = None,
    leads: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Tabulate the surprisal of every token, word and region.

    Parameters
    ----------
    model : Scorer
        The model of the scores; one with ``boundary=corrected`` scores words and regions again.
    sentences : DataFrame, one row per sentence
        Needs ``sentence_id`` and ``sentence``.
    scores : Scores
        Scores of these sentences with their tokens (``score(…, tokens=True)``).
    regions : mapping, optional
        Regions by ``sentence_id``, from :func:`read_regions`.
    leads : sequence of str, optional
        Text before each sentence, such as a context, with the space that ends it.
    progress : callable, optional
        Called with the number of words scored again for ``boundary=corrected``.

    Returns
    -------
    DataFrame
        One row per token, word and region (column ``unit``): ``sentence_id``, ``position`` (from 1 within its
        unit), ``region``, ``text``, ``start`` and ``end`` (characters of the sentence from 0, the second
        exclusive), ``n_tokens``, ``surprisal_nats``, ``surprisal_bits`` and ``note``. A sentence that was not
        scored has no rows.

    Raises
    ------
    BadInput
        If the model has no tokens, or does not give their characters.

    Notes
    -----
    Surprisal is −log p of a token after all before it, with the context of its sentence; for a masked model
    it is −log p of the masked token in the sentence. Words are the stretches between white space. A token
    belongs to the word or region of its first character that is not white space, so that the space before a
    word counts with it. The surprisal of a word or region is the sum over its tokens. It is empty where the
    first of them has no probability, or began in what stands before; where the last reaches into what
    follows, that is noted.
    """
    require_tokens(model)
    if scores.token_logprobs is None or scores.spans is None:
        raise BadInput(
            f"{model.spec.uri} does not give the characters of its tokens, which surprisals need.",
            remedy="Use a model with a fast tokenizer.",
        )
    names, texts = (sentences[name].astype(str).tolist() for name in ("sentence_id", "sentence"))
    rows: list[dict[str, object]] = []
    stretches: list[tuple[int, int]] = []  # row of the table, and the sentence of its word or region
    for place, (name, text) in enumerate(zip(names, texts, strict=True)):
        logprobs, spans = scores.token_logprobs[place], scores.spans[place]
        if not len(logprobs):
            continue
        # First character of each token that is not white space, also where that follows the token.
        heads = [len(text) - len(text[start:].lstrip()) for start, _ in spans]
        ends = [start + len(text[start:end].rstrip()) for start, end in spans]
        lacks_first = bool(scores.flags[place] & FLAG_NO_FIRST)
        rows += _token_rows(name, text, logprobs, spans)
        words = [Region("", match.start(), match.end()) for match in re.finditer(r"\S+", text)]
        units = [
            *(("word", word) for word in words),
            *(("region", region) for region in (regions or {}).get(name, ())),
        ]
        first_char = words[0].start if words else 0
        for unit, stretch in units:
            row = _stretch_row(text, logprobs, heads, ends, stretch)
            if lacks_first and stretch.start <= first_char < stretch.end:
                row |= {"nats": np.nan, "note": FIRST_NOTE}
            stretches.append((len(rows), place))
            rows.append({"sentence_id": name, "unit": unit, **row})
    table = pd.DataFrame(rows, columns=[*COLUMNS[:8], "nats", "note"])
    table["position"] = table.groupby(["sentence_id", "unit"], sort=False).cumcount() + 1
    if getattr(model, "boundaries", []):
        table = _with_corrected_boundaries(table, model, texts, leads, stretches, progress=progress)
    nats = table.pop("nats").astype(float)
    return table.assign(surprisal_nats=nats, surprisal_bits=nats * BITS)[list(COLUMNS)]


def _token_rows(
    name: str, text: str, logprobs: Floats, spans: Sequence[tuple[int, int]]
) -> list[dict[str, object]]:
    return [
        {
            "sentence_id": name,
            "unit": "token",
            "region": "",
            "text": text[start:end],
            "start": start,
            "end": end,
            "n_tokens": 1,
            "nats": -float(logprob),
            "note": END_NOTE if start >= len(text) else "",
        }
        for (start, end), logprob in zip(spans, logprobs, strict=True)
    ]


def _stretch_row(
    text: str, logprobs: Floats, heads: Sequence[int], ends: Sequence[int], stretch: Region
) -> dict[str, object]:
    """Sum the tokens of a word or region."""
    token_places = [k for k, head in enumerate(heads) if stretch.start <= head < stretch.end]
    before = any(head < stretch.start < end for head, end in zip(heads, ends, strict=True))
    after = any(ends[k] > stretch.end for k in token_places)
    note = stretch.note or (INSIDE_NOTE if before else SHARED_NOTE if after else "")
    return {
        "region": stretch.name,
        "text": text[stretch.start : stretch.end],
        "start": stretch.start,
        "end": stretch.end,
        "n_tokens": len(token_places),
        "nats": -float(logprobs[token_places].sum()) if token_places and not before else np.nan,
        "note": note,
    }


def _with_corrected_boundaries(
    table: pd.DataFrame,
    model: Scorer,
    texts: Sequence[str],
    leads: Sequence[str] | None,
    stretches: Sequence[tuple[int, int]],
    *,
    progress: Progress | None,
) -> pd.DataFrame:
    """Score words and regions after their prefixes, where their boundaries are corrected."""
    starts_by_row, texts_by_row = table["start"].tolist(), table["text"].tolist()
    worded = [(row, place) for row, place in stretches if texts_by_row[row]]
    places = [place for _, place in worded]
    starts = [starts_by_row[row] for row, _ in worded]
    scored = score_words(
        model,
        [texts[place][:start] for place, start in zip(places, starts, strict=True)],
        [texts_by_row[row] for row, _ in worded],
        sentences=[texts[place] for place in places],
        leads=None if leads is None else [leads[place] for place in places],
        progress=progress,
    )
    nats, notes = table["nats"].tolist(), table["note"].tolist()
    for (row, _), logprob in zip(worded, scored.logprob.tolist(), strict=True):
        nats[row] = -logprob
        notes[row] = notes[row] or (PREFIX_NOTE if np.isnan(logprob) else "")
    return table.assign(nats=nats, note=notes)


def named_regions(sentences: pd.DataFrame, path: str | Path | None = None) -> Regions:
    """Return the critical regions of sentences, and those of a file of regions after them."""
    regions = critical_regions(sentences)
    if path:
        for sentence_id, rows in read_regions(path, sentences).items():
            regions[sentence_id] = [*regions.get(sentence_id, []), *rows]
    return regions


def leading_texts(model: Scorer, sentences: pd.DataFrame) -> list[str]:
    """Return the text that a model reads before each sentence; empty where it reads the sentences alone."""
    contexts, rule = context_column(sentences), model_context_rule(model)
    if not rule.applies(contexts):
        return [""] * len(sentences)
    names = sentences["sentence_id"].astype(str)
    return [rule.lead(context, sentence_id=name) for context, name in zip(contexts, names, strict=True)]


def score_tokens(
    model: Scorer,
    sentences: pd.DataFrame,
    *,
    regions: Regions,
    methods: Sequence[str] = ("lp",),
    name: str = "",
    pairs: Sequence[tuple[str, str]] = (),
    entropy: bool = False,
    progress: Progress | None = None,
    word_progress: Progress | None = None,
) -> tuple[ScoredSentences, pd.DataFrame]:
    """Score sentences by their tokens; return the scores, and the surprisals of tokens, words and regions.

    With ``entropy`` tokens have that of the prediction at their place as well. Scores of tokens are computed,
    because the cache stores those of sentences. ``word_progress`` counts the words that a model with
    corrected boundaries scores again.
    """
    require_tokens(model)
    leads = leading_texts(model, sentences)
    scored = score_sentences(
        model, sentences, methods=methods, name=name, tokens=True, pairs=pairs, progress=progress
    )
    assert scored.scores is not None
    table = surprisal_table(
        model, sentences, scored.scores, regions=regions, leads=leads, progress=word_progress
    )
    return scored, with_entropies(table, model, sentences, scored.scores, leads=leads) if entropy else table


@runtime_checkable
class PredictsTokens(Protocol):
    """A model that gives the entropy of the prediction of each scored token."""

    def token_entropies(self, sentences: Sequence[str]) -> list[Floats]:
        """Return the entropies of each sentence, in nats."""
        ...


def with_entropies(
    table: pd.DataFrame,
    model: Scorer,
    sentences: pd.DataFrame,
    scores: Scores,
    *,
    leads: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Add the entropy of the prediction at each token's place to a table of surprisals.

    Parameters
    ----------
    table : DataFrame
        From :func:`surprisal_table`.
    model : Scorer
        A causal model of transformers.
    sentences, scores, leads
        Those of the table.

    Returns
    -------
    DataFrame
        The table with ``entropy_bits``: −Σ p log₂ p over all tokens that could follow what stands before the
        token. Empty for words and regions.

    Raises
    ------
    BadInput
        If the model gives no predictions of all tokens.

    References
    ----------
    Hale (2003), "The information conveyed by words in sentences", *Journal of Psycholinguistic Research* 32.
    """
    if not isinstance(model, PredictsTokens):
        kind = model.spec.uri.partition(":")[0]
        raise BadInput(f"{kind}: gives no entropy of its predictions.", remedy="Use hf-causal:.")
    texts = sentences["sentence"].astype(str).tolist()
    entropies = model.token_entropies(
        texts if leads is None else [lead + text for lead, text in zip(leads, texts, strict=True)]
    )
    rows = scores.token_logprobs or []
    # After a context only the last tokens are the sentence's.
    values = [
        row[len(row) - len(scored) :] for row, scored in zip(entropies, rows, strict=True) if len(scored)
    ]
    bits = pd.Series(np.nan, index=table.index)
    bits[table["unit"] == "token"] = np.concatenate(values) * BITS if values else np.empty(0)
    return table.assign(entropy_bits=bits)


def unit_counts(table: pd.DataFrame) -> dict[str, int]:
    """Return how many tokens, words and regions a table of surprisals has."""
    n = table["unit"].value_counts()
    counts = {f"{unit}s": int(n.get(unit, 0)) for unit in ("token", "word", "region")}
    return {**counts, "without a value": int(table["surprisal_nats"].isna().sum())}
