"""Scores known already, by specification and the exact bytes of a sentence: shared by all studies.

The key is the digest of everything that may change a number, with the very revision of the model in it, and
the SHA-256 of the sentence. Where a model lies is no part of it: one file under two names is one model.
Versions of libraries are no part of it either, because they move sums by less than 1e-4; a new version is
tried on twenty known sentences before its scores stand beside the older ones.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from django.db import DatabaseError, connection, transaction

from analysis.errors import BadInput
from analysis.releases.models import CachedScore, ScorerSpec
from analysis.scoring import Scorer, Scores, Spec
from analysis.scoring.base import FLAG_SAME, Progress
from analysis.scoring.shards import shard_places

FIXED = ("sha256:", "commit:")
CHECKED = 20
TOLERANCE = {"float32": 1e-3, "bfloat16": 0.5, "float16": 0.1}
SAME_WITHIN = 1e-3
LIBRARIES = {"hf": ("torch", "transformers"), "lstm": ("torch",)}
COLUMNS = ("logprob", "unigram_logprob", "n_tokens", "n_words", "n_chars", "n_unk", "flags")
ROWS = 2_000
DISK_FULL = ("disk is full", "No space left on device", "DiskFull", "could not extend file")

Row = tuple[Any, ...]


def sentence_sha(text: str) -> bytes:
    """The second half of the key."""
    return hashlib.sha256(text.encode()).digest()


def key_spec(spec: Spec, *, served_for: str = "") -> Spec:
    """The specification as a key holds it: the place of the model out, its revision exact.

    A served model has no revision that could be trusted tomorrow: its scores serve one run, ``served_for``.
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
    """Whether the same specification will name the same weights tomorrow."""
    return spec.revision.startswith(FIXED)


def scorer_row(spec: Spec, *, served_for: str = "") -> ScorerSpec:
    """The stored specification; made when it is first met."""
    key = key_spec(spec, served_for=served_for)
    fields = {"spec": asdict(key), "software": software(key)}
    return ScorerSpec.objects.get_or_create(spec_id=key.spec_id, defaults=fields)[0]


def software(spec: Spec) -> dict[str, str]:
    """Versions of the libraries a model of this kind runs on."""
    kind = spec.uri.partition(":")[0].partition("-")[0]
    found = {}
    for name in LIBRARIES.get(kind, ()):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def known(row: ScorerSpec, shas: Sequence[bytes]) -> dict[bytes, Row]:
    """The cached columns of those sentences that have them."""
    found: dict[bytes, Row] = {}
    for part in _parts(list(dict.fromkeys(shas)), (connection.features.max_query_params or 10_000) - 1):
        rows = CachedScore.objects.filter(scorer=row, sentence_sha__in=part)
        for sha, *values in rows.values_list("sentence_sha", *COLUMNS):
            found[bytes(sha)] = tuple(values)
    return found


def store(row: ScorerSpec, texts: Sequence[str], found: Scores) -> None:
    """Store scores in one transaction; the first score of a sentence stands, whoever comes second."""
    numbers = {name: _floats(getattr(found, name), len(texts)) for name in COLUMNS[:2]}
    counts = {name: np.asarray(getattr(found, name)).tolist() for name in COLUMNS[2:]}
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
                "no space is left where the database lies; no score of this piece was stored.",
                remedy="Free some space, then press Retry: what is stored is not computed again.",
            ) from error
        raise


def scores_of(row: ScorerSpec, texts: Sequence[str]) -> Scores:
    """Scores of sentences that are all known, in their order."""
    shas = [sentence_sha(text) for text in texts]
    rows = known(row, shas)
    lacking = sum(sha not in rows for sha in set(shas))
    if lacking:
        raise BadInput(
            f"{lacking} scores are no longer in the cache.", remedy="Press Retry: they are computed again."
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
        _same(texts, np.array(columns["flags"], dtype=np.uint16), logprob, n_tokens),
        None if np.isnan(unigram).all() else unigram,
    )


def check_software(row: ScorerSpec, model: Scorer, texts: Sequence[str]) -> str:
    """Try other versions of the libraries on twenty known sentences; give what is to be said of it.

    Where the sums have moved, the older scores leave the cache and are computed again; finished runs keep
    theirs.
    """
    now = software(model.spec)
    if now == row.software:
        return ""
    cached = known(row, [sentence_sha(text) for text in texts])
    if not cached:
        older = CachedScore.objects.filter(scorer=row).exists()
        if not older:
            ScorerSpec.objects.filter(pk=row.pk).update(software=now)
        return "cached scores of other sentences are not checked with these versions yet" if older else ""
    distinct = list(dict.fromkeys(text for text in texts if sentence_sha(text) in cached))
    tried = [distinct[place] for place in np.unique(np.linspace(0, len(distinct) - 1, CHECKED).astype(int))]
    before = np.array([cached[sentence_sha(text)][0] for text in tried], dtype=np.float64)
    worst = float(np.nanmax(np.abs(model.score(tried).logprob - before), initial=0.0))
    said = f"{_versions(row.software)} → {_versions(now)}: {len(tried)} cached sentences within {worst:.1e}"
    with transaction.atomic():
        if worst > TOLERANCE.get(model.spec.dtype, 1e-6):
            n = CachedScore.objects.filter(scorer=row).count()
            CachedScore.objects.filter(scorer=row)._raw_delete(connection.alias)
            said += f"; that is too much, {n} scores are computed again"
        ScorerSpec.objects.filter(pk=row.pk).update(software=now)
    return said


class CachedScorer:
    """A scorer that computes only what no study has asked of it before, piece by piece."""

    def __init__(self, model: Scorer) -> None:
        self.model, self.spec, self.capabilities = model, model.spec, model.capabilities
        self.row = scorer_row(model.spec)
        self.n_known = 0
        for name in ("warnings", "boundary_correction"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    @property
    def why(self) -> str:
        """Which way the model took, and how much the cache gave."""
        said = f"{self.n_known} sentences from the cache" if self.n_known else ""
        return "; ".join(part for part in (getattr(self.model, "why", ""), said) if part)

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, as the model itself would; single tokens are not cached."""
        if tokens:
            return self.model.score(sentences, ids=ids, tokens=True, progress=progress)
        check_software(self.row, self.model, sentences)
        cached = known(self.row, [sentence_sha(text) for text in sentences])
        left = [text for text in sentences if sentence_sha(text) not in cached]
        self.n_known = len(sentences) - len(left)
        if progress is not None:
            progress(self.n_known)
        for places in shard_places(left, [""] * len(left)):
            texts = [left[place] for place in places]
            store(self.row, texts, self.model.score(texts, progress=progress))
        return scores_of(self.row, sentences)


def _same(texts: Sequence[str], flags: Any, logprob: Any, n_tokens: Any) -> Any:
    """Keep "indistinguishable" only beside a sentence of other letters here that has the same sum."""
    marked = np.flatnonzero(flags & FLAG_SAME)
    kept = np.zeros(len(flags), dtype=bool)
    order = sorted(marked, key=lambda place: (n_tokens[place], logprob[place]))
    for one, other in zip(order, order[1:], strict=False):
        alike = n_tokens[one] == n_tokens[other] and abs(logprob[one] - logprob[other]) < SAME_WITHIN
        if alike and texts[one] != texts[other]:
            kept[[one, other]] = True
    return np.where(kept, flags, flags & ~np.uint16(FLAG_SAME)).astype(np.uint16)


def _floats(values: Any, n: int) -> list[float | None]:
    if values is None:
        return [None] * n
    return [float(value) if np.isfinite(value) else None for value in values]


def _versions(found: dict[str, str]) -> str:
    return " ".join(f"{name} {number}" for name, number in sorted(found.items())) or "none noted"


def _parts(values: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
