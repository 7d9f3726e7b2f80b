"""Data version of a study, and its judgments as frames kept in the process's memory.

Every report and figure of a page starts from the same frame. Frames are kept by data version, so a change of
the data makes another key and nothing has to be invalidated; the least recently used ones are dropped.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

import pandas as pd
from django.db.models import Count, Max, Q
from django.utils import timezone

from analysis.exclusions.plan import Plan
from config.version import code_version
from experiments.lists.rounds import check_round
from experiments.models import Experiment
from experiments.page_cache import cache
from judgments.frames.listing import counted_judgments
from judgments.models import Flag, Judgment, Participant, Session
from releases.gold.plans import judgments_for

MAX_BYTES = 160_000_000  # of all frames in one process; a million plain rows, of 600 MB for the process
MAX_JUDGMENTS = 1_000_000  # a larger study is read again with the columns that are needed
COUNT_SECONDS = 600
# Race: a transaction that was open while judgments were counted may commit a judgment with a lower key than
# the newest. Answers are stored within milliseconds, so after this time a count cannot change unnoticed.
SETTLED, FRESH_SECONDS = timedelta(seconds=10), 2


@dataclass
class FrameCache:
    """Frames in memory up to a number of bytes, the least recently used dropped first."""

    max_bytes: int
    frames: OrderedDict[Hashable, tuple[pd.DataFrame, int]] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def get_or_read(self, key: Hashable, read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """The frame under a key, read where it is absent; a shallow copy, so that no caller changes it."""
        with self.lock:
            entry = self.frames.get(key)
            if entry is not None:
                self.frames.move_to_end(key)
        if entry is None:
            frame = read()
            entry = frame, int(frame.memory_usage(deep=True).sum())
            self._store(key, entry)
        return entry[0].copy(deep=False)

    def drop(self, is_outdated: Callable[[Any], bool]) -> None:
        """Drop the frames whose keys meet a condition."""
        with self.lock:
            for key in filter(is_outdated, list(self.frames)):
                del self.frames[key]

    def _store(self, key: Hashable, entry: tuple[pd.DataFrame, int]) -> None:
        if entry[1] > self.max_bytes:
            return
        with self.lock:
            self.frames[key] = entry
            while sum(size for _, size in self.frames.values()) > self.max_bytes:
                self.frames.popitem(last=False)


FRAMES = FrameCache(MAX_BYTES)


def study_judgments(
    study: Experiment, plan: Plan, *, narrow: bool = False, round_number: int | None = None
) -> pd.DataFrame:
    """The judgments a plan is applied to, from memory while the data are the same.

    Parameters as for :func:`releases.gold.plans.judgments_for`; a frame from memory has all columns. Counting
    ten million judgments takes half as long as reading them, so frames are stored only where a page has just
    asked for the data version; commands read the judgments once and store nothing.
    """
    if round_number is not None:
        check_round(study, round_number)
    counts = cache.get(_counts_key(study, _states(study)))
    if counts is None or counts["n"] > MAX_JUDGMENTS:
        return judgments_for(study, plan, narrow=narrow, round_number=round_number)
    version = data_version(study)
    # Not for room only: an earlier version may hold the answers of a participant who was forgotten since.
    FRAMES.drop(lambda key: key[0] == study.pk and key[1] != version)
    key = (study.pk, version, plan.has_signals)
    judgments = FRAMES.get_or_read(key, lambda: judgments_for(study, plan))
    if round_number is None:
        return judgments
    return judgments[judgments["round"] == round_number].reset_index(drop=True)


def n_judgments(study: Experiment) -> int:
    """Number of judgments of a study, previews included."""
    return int(_counts(study, _states(study))["n"])


def n_counted(study: Experiment) -> int:
    """Number of judgments of the study's ``data``: by default without previews and pilots."""
    if study.data:
        return counted_judgments(study).count()
    return int(_counts(study, _states(study))["n_counted"])


def data_version(study: Experiment) -> str:
    """Hash of everything that a report of the study is computed from, including the code's version."""
    participants = Participant.objects.filter(experiment=study).order_by()
    flags = Flag.objects.filter(participant__experiment=study)
    natives = participants.values_list("is_native").annotate(Count("pk"), Max("pk"))
    states = _states(study)
    parts = [
        code_version(),
        study.pk,
        study.materials_id,
        study.task,
        study.parameters,
        # Left out for counted data, so that reports stored before this part remain valid.
        *([study.data] if study.data else []),
        # Judgments are append-only: count and highest key change with every insertion and deletion.
        _counts(study, states),
        states,
        sorted(map(str, natives)),
        flags.aggregate(n=Count("pk"), lifted=Count("lifted_at"), last=Max("pk"), at=Max("lifted_at")),
    ]
    return _sha256(parts)


def _states(study: Experiment) -> list[str]:
    """Sessions by state; every deletion of answers and every import changes them."""
    sessions = Session.objects.filter(experiment=study).order_by()
    states = sessions.values_list("status", "submission_status", "is_test").annotate(Count("pk"), Max("pk"))
    return sorted(map(str, states))


def _counts(study: Experiment, states: list[str]) -> dict[str, Any]:
    """Number and highest key of the study's judgments.

    Counting visits every judgment of the study, so the count is cached while the newest judgment of all
    studies and the study's sessions are the same.
    """
    key = _counts_key(study, states)
    counts: dict[str, Any] | None = cache.get(key)
    if counts is None:
        judgments = Judgment.objects.filter(trial__session__experiment=study)
        is_counted = Q(trial__session__is_test=False)
        counts = judgments.aggregate(n=Count("pk"), n_counted=Count("pk", filter=is_counted), last=Max("pk"))
        newest = _newest_judgment()
        is_settled = newest is None or newest[1] is None or timezone.now() - newest[1] > SETTLED
        cache.set(key, counts, COUNT_SECONDS if is_settled else FRESH_SECONDS)
    return counts


def _counts_key(study: Experiment, states: list[str]) -> str:
    erased = study.tombstones.aggregate(n=Count("pk"), last=Max("pk"))
    return f"judgment-counts-{_sha256([study.pk, _newest_judgment(), erased, states])}"


def _newest_judgment() -> tuple[int, datetime | None] | None:
    """Key and time of the newest judgment of all studies."""
    return Judgment.objects.order_by("-pk").values_list("pk", "received_at").first()


def _sha256(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
