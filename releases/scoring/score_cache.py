"""Cache of scores by specification and sentence, shared by all studies.

The key is the digest of everything that affects a score, including the exact revision of the model, and the
SHA-256 of the sentence. The location of a model is not part of it: one file under two names is one model.
Versions of libraries are not part of it either, because they change sums by less than 1e-4; a new version is
tested on twenty cached sentences before its scores are mixed with older ones.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import DatabaseError, connection, transaction

from analysis.errors import BadInput
from analysis.scoring import Scorer, Scores, Spec
from analysis.scoring.base import FLAG_SAME, Progress
from analysis.scoring.shards import shard_places
from analysis.scoring.words.tokens import ComparesTokens
from releases.models import CachedScore, ScorerSpec

FIXED = ("sha256:", "commit:")
CHECKED = 20  # sentences that a new version of a library is tested on
TOLERANCE = {"float32": 1e-3, "bfloat16": 0.5, "float16": 0.1}  # nats per sentence, by precision
SAME_WITHIN = 1e-3  # nats
LIBRARIES = {"hf": ("torch", "transformers"), "lstm": ("torch",)}
COLUMNS = ("logprob", "unigram_logprob", "n_tokens", "n_words", "n_chars", "n_unk", "flags")
ROWS = 2_000  # of one INSERT
# SQLite, the operating system, and PostgreSQL (class and message); no error class covers all of them.
DISK_FULL = ("disk is full", "No space left on device", "DiskFull", "could not extend file")

Row = tuple[Any, ...]


def sentence_sha(text: str) -> bytes:
    """Return the SHA-256 of a sentence, the second part of the key."""
    return hashlib.sha256(text.encode()).digest()


def key_spec(spec: Spec, *, served_for: str = "") -> Spec:
    """Return the specification as used in a key: without the model's location, with its exact revision.

    A served model has no fixed revision: its scores are valid for one run, ``served_for``.
    """
    kind, _, target = spec.uri.partition(":")
    if spec.revision.startswith("sha256:"):
        return replace(spec, uri=f"{kind}:{spec.revision}")
    if spec.revision.startswith("commit:"):
        return replace(spec, uri=f"{kind}:{target.partition('@')[0]}")
    if not served_for:
        raise BadInput(f"the revision of {spec.uri} is not known, so its scores cannot be shared.")
    return replace(spec, revision=f"{spec.revision}, for {served_for}")


def has_fixed_revision(spec: Spec) -> bool:
    """Return whether the specification names fixed weights, by digest or commit."""
    return spec.revision.startswith(FIXED)


def scorer_row(spec: Spec, *, served_for: str = "") -> ScorerSpec:
    """Return the stored specification, created on first use."""
    key = key_spec(spec, served_for=served_for)
    fields = {"spec": asdict(key), "software": software(key)}
    return ScorerSpec.objects.get_or_create(spec_id=key.spec_id, defaults=fields)[0]


def software(spec: Spec) -> dict[str, str]:
    """Return the versions of the libraries that a model of this kind uses."""
    kind = spec.uri.partition(":")[0].partition("-")[0]
    versions = {}
    for name in LIBRARIES.get(kind, ()):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def cached_rows(row: ScorerSpec, shas: Sequence[bytes]) -> dict[bytes, Row]:
    """Return the cached columns of the sentences that have them."""
    rows_by_sha: dict[bytes, Row] = {}
    # SQLite limits the parameters of a query; one of them is the scorer.
    limit = (connection.features.max_query_params or 10_000) - 1
    for batch in _batches(list(dict.fromkeys(shas)), limit):
        rows = CachedScore.objects.filter(scorer=row, sentence_sha__in=batch)
        for sha, *values in rows.values_list("sentence_sha", *COLUMNS):
            rows_by_sha[bytes(sha)] = tuple(values)
    return rows_by_sha


def store(row: ScorerSpec, texts: Sequence[str], scores: Scores) -> None:
    """Store scores in one transaction; an existing score of a sentence is retained."""
    numbers = {name: _floats(getattr(scores, name), len(texts)) for name in COLUMNS[:2]}
    counts = {name: np.asarray(getattr(scores, name)).tolist() for name in COLUMNS[2:]}
    rows = [
        CachedScore(
            scorer=row,
            sentence_sha=sentence_sha(text),
            **{name: values[place] for name, values in numbers.items()},
            **{name: values[place] for name, values in counts.items()},
        )
        for place, text in enumerate(texts)
    ]
    try:
        with transaction.atomic():
            CachedScore.objects.bulk_create(rows, batch_size=ROWS, ignore_conflicts=True)
    except DatabaseError as error:
        if any(word in f"{error!r} {error.__cause__!r}" for word in DISK_FULL):
            raise BadInput(
                "the disk of the database is full; no score of this shard was stored.",
                remedy="Free some space, then press Retry: what is stored is not computed again.",
            ) from error
        raise


def read_scores(row: ScorerSpec, texts: Sequence[str], model: Scorer) -> Scores:
    """Return the cached scores of sentences in their order; all of them must be cached.

    Whether a sentence can be told from the others depends on these sentences, not on those of its shard.
    """
    shas = [sentence_sha(text) for text in texts]
    rows = cached_rows(row, shas)
    n_missing = sum(sha not in rows for sha in set(shas))
    if n_missing:
        raise BadInput(
            f"{n_missing} scores are no longer in the cache.", remedy="Press Retry: they are computed again."
        )
    columns = dict(zip(COLUMNS, zip(*(rows[sha] for sha in shas), strict=True), strict=True))
    unigram = np.array(columns["unigram_logprob"], dtype=np.float64)
    logprob = np.array(columns["logprob"], dtype=np.float64)
    n_tokens = np.array(columns["n_tokens"], dtype=np.int32)
    return Scores(
        logprob,
        n_tokens,
        np.array(columns["n_words"], dtype=np.int32),
        np.array(columns["n_chars"], dtype=np.int32),
        np.array(columns["n_unk"], dtype=np.int32),
        _same(model, texts, np.array(columns["flags"], dtype=np.uint16), logprob, n_tokens),
        None if np.isnan(unigram).all() else unigram,
    )


def check_software(row: ScorerSpec, model: Scorer, texts: Sequence[str]) -> str:
    """Test new versions of the libraries on twenty cached sentences; return a note on the result.

    Scores that differ are deleted from the cache and computed again; finished runs keep theirs.
    """
    versions = software(model.spec)
    if versions == row.software:
        return ""
    cached = cached_rows(row, [sentence_sha(text) for text in texts])
    if not cached:
        has_others = CachedScore.objects.filter(scorer=row).exists()
        if not has_others:
            ScorerSpec.objects.filter(pk=row.pk).update(software=versions)
        return (
            "cached scores of other sentences are not checked with these versions yet" if has_others else ""
        )
    distinct = list(dict.fromkeys(text for text in texts if sentence_sha(text) in cached))
    positions = np.unique(np.linspace(0, len(distinct) - 1, CHECKED).astype(int))
    sample = [distinct[position] for position in positions]
    before = np.array([cached[sentence_sha(text)][0] for text in sample], dtype=np.float64)
    worst = float(np.nanmax(np.abs(model.score(sample).logprob - before), initial=0.0))
    change = f"{_versions(row.software)} → {_versions(versions)}"
    note = f"{change}: {len(sample)} cached sentences within {worst:.1e}"
    with transaction.atomic():
        if worst > TOLERANCE.get(model.spec.dtype, 1e-6):
            n = CachedScore.objects.filter(scorer=row).count()
            # delete() would fetch millions of rows; nothing refers to them, so no cascade is needed.
            CachedScore.objects.filter(scorer=row)._raw_delete(connection.alias)
            note += f"; that is too much, {n} scores are computed again"
        ScorerSpec.objects.filter(pk=row.pk).update(software=versions)
    return note


class CachedScorer:
    """A scorer that computes only scores that are not cached, and stores them shard by shard."""

    def __init__(self, model: Scorer) -> None:
        self.model, self.spec, self.capabilities = model, model.spec, model.capabilities
        self.row = scorer_row(model.spec)
        self.n_cached = 0
        for name in ("warnings", "boundary_correction", "contexts"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    @property
    def why(self) -> str:
        """Return the code path of the model and the number of sentences from the cache."""
        note = f"{self.n_cached} sentences from the cache" if self.n_cached else ""
        return "; ".join(part for part in (getattr(self.model, "why", ""), note) if part)

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences through the cache; scores of single tokens are not cached."""
        if tokens:
            return self.model.score(sentences, ids=ids, tokens=True, progress=progress)
        check_software(self.row, self.model, sentences)
        cached = cached_rows(self.row, [sentence_sha(text) for text in sentences])
        left = [text for text in sentences if sentence_sha(text) not in cached]
        self.n_cached = len(sentences) - len(left)
        if progress is not None:
            progress(self.n_cached)
        for places in shard_places(left, [""] * len(left)):
            texts = [left[place] for place in places]
            store(self.row, texts, self.model.score(texts, progress=progress))
        return read_scores(self.row, sentences, self.model)


def _same(
    model: Scorer,
    texts: Sequence[str],
    flags: npt.NDArray[np.uint16],
    logprob: npt.NDArray[np.float64],
    n_tokens: npt.NDArray[np.int32],
) -> npt.NDArray[np.uint16]:
    """Set the flag "indistinguishable" where another of these sentences has the same tokens."""
    # The stored flag stems from a shard, or from another run, where the sentence was beside other ones.
    is_same = model.same_tokens(texts) if isinstance(model, ComparesTokens) else None
    if is_same is None:
        is_same = _same_scores(texts, flags, logprob, n_tokens)
    without = flags & ~np.uint16(FLAG_SAME)
    return np.where(is_same, without | np.uint16(FLAG_SAME), without).astype(np.uint16)


def _same_scores(
    texts: Sequence[str],
    flags: npt.NDArray[np.uint16],
    logprob: npt.NDArray[np.float64],
    n_tokens: npt.NDArray[np.int32],
) -> npt.NDArray[np.bool_]:
    """Return which flagged sentences have the score of another, where a server has the tokenizer."""
    marked = np.flatnonzero(flags & FLAG_SAME).tolist()
    is_same = np.zeros(len(flags), dtype=np.bool_)
    order = sorted(marked, key=lambda place: (n_tokens[place], logprob[place]))
    for first, second in zip(order, order[1:], strict=False):
        alike = n_tokens[first] == n_tokens[second] and abs(logprob[first] - logprob[second]) < SAME_WITHIN
        if alike and texts[first] != texts[second]:
            is_same[[first, second]] = True
    return is_same


def _floats(values: Any, n: int) -> list[float | None]:
    if values is None:
        return [None] * n
    return [float(value) if np.isfinite(value) else None for value in values]


def _versions(versions: dict[str, str]) -> str:
    return " ".join(f"{name} {number}" for name, number in sorted(versions.items())) or "none recorded"


def _batches(values: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
