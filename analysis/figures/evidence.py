"""What figures are drawn from: judgments under a plan, pairs and scores, a power table, corpora."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from analysis.agreement.report import agreement_report
from analysis.comparison.criteria import Signs
from analysis.comparison.deltas import PairTable, pair_table
from analysis.comparison.report import compare_report
from analysis.effects.five_analyses import FiveAnalyses, five_analyses
from analysis.effects.pilot_power import pilot_power
from analysis.exclusions.apply import Excluded, apply_plan
from analysis.exclusions.plan import Plan
from analysis.rows import tasks


@dataclass(frozen=True)
class Evidence:
    """Everything a figure may be drawn from; what is absent stays None, and the figure says so.

    Parameters
    ----------
    judgments : DataFrame, optional
        All rows of a study, before any exclusion, with catch trials and fillers where there are any.
    plan : Plan
        What is excluded; named in every caption.
    stages : DataFrame, optional
        ``stage`` and ``participants``: who opened, consented, started and finished, in this order.
    human, pairs, scores : DataFrame, optional
        As for :func:`analysis.comparison.report.compare_report`.
    report : dict, optional
        A comparison that was computed before; else it is computed from the three frames.
    model : str
        The model of figures that show one; empty for the first.
    learning : DataFrame, optional
        ``model``, ``tokens``, ``phenomenon``, ``accuracy``: models trained on corpora of several sizes.
    planned : DataFrame, optional
        Power of a planned study by size, as ``designs`` of
        :func:`analysis.effects.prospective.prospective_power`.
    chosen : int, optional
        The number of participants planned.
    by : str
        Column of the contrasts that are tested: ``phenomenon`` or ``paradigm``.
    effects : dict, optional
        The effects of the kept rows, computed before by :func:`analysis.effects.report.effects_report`.
    basis : str
        What captions say in place of the plan, for numbers of a frozen release.
    sentences : Mapping of str to str
        The text of sentences by id, shown on hover and used to find identical members.
    already_standardized, signs, deltas
        Conventions of the comparison.
    seed : int
        Of every random procedure.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a"], "item": ["i"], "value": [1], "task": ["forced_choice"]})
    >>> Evidence(judgments=rows).tasks, Evidence(judgments=rows).note
    (('forced_choice',), 'Plan: none.')
    """

    judgments: pd.DataFrame | None = None
    plan: Plan = Plan("none")
    stages: pd.DataFrame | None = None
    human: pd.DataFrame | None = None
    pairs: pd.DataFrame | None = None
    scores: pd.DataFrame | None = None
    report: Mapping[str, Any] | None = None
    model: str = ""
    learning: pd.DataFrame | None = None
    planned: pd.DataFrame | None = None
    chosen: int | None = None
    by: str = ""
    effects: Mapping[str, Any] | None = None
    basis: str = ""
    sentences: Mapping[str, str] | None = None
    already_standardized: bool = False
    signs: Signs = "strict"
    deltas: tuple[float, ...] = (0.5, 1.0, 5.0)
    seed: int = 0

    @cached_property
    def excluded(self) -> Excluded:
        """The plan applied to all rows."""
        return apply_plan(self.everyone, self.plan)

    @property
    def everyone(self) -> pd.DataFrame:
        """All rows, before any exclusion; none where there are no judgments."""
        if self.judgments is None:
            return pd.DataFrame({"participant": [], "value": []})
        return self.judgments

    @property
    def kept(self) -> pd.DataFrame:
        """The rows the plan keeps."""
        return self.excluded.kept

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the judgments, in alphabetical order."""
        if self.judgments is None or not len(self.judgments):
            return ()
        return tuple(sorted({str(name) for name in tasks(self.judgments).dropna().unique()}))

    @property
    def note(self) -> str:
        """The plan, for captions."""
        if self.basis:
            return self.basis
        if not self.plan.steps:
            return "Plan: none."
        return f"Plan: {self.plan.name}, version {self.plan.version} ({self.plan.sha256[:8]})."

    @property
    def note_before(self) -> str:
        """The plan, for captions of figures that show everybody."""
        return f"Before exclusions. {self.note}" if self.plan.steps else self.note

    @cached_property
    def contrasts(self) -> str:
        """The column of the contrasts: the one asked for, else phenomena, else paradigms."""
        if self.by:
            return self.by
        if self.judgments is None or "phenomenon" not in self.judgments.columns:
            return "paradigm"
        names = set(self.judgments["phenomenon"].dropna().unique()) - {""}
        return "phenomenon" if names else "paradigm"

    @cached_property
    def agreement(self) -> dict[str, Any]:
        """The agreement report of the kept rows."""
        return agreement_report(
            self.kept, seed=self.seed, excluded=self.excluded.flow_rows(), before=self.judgments
        )

    @cached_property
    def five(self) -> FiveAnalyses:
        """The five analyses of each contrast of the kept rows."""
        if self.effects is not None:
            return FiveAnalyses.of_document(self.effects)
        return five_analyses(self.kept, by=self.contrasts)

    @cached_property
    def power(self) -> pd.DataFrame:
        """The power of other numbers of participants, from the kept rows."""
        return pilot_power(self.kept, by=self.contrasts, seed=self.seed)

    @cached_property
    def table(self) -> PairTable | None:
        """Differences by pair; None without pairs or scores."""
        if self.pairs is None or self.scores is None:
            return None
        return pair_table(self.human, self.pairs, self.scores, already_standardized=self.already_standardized)

    @cached_property
    def comparison(self) -> Mapping[str, Any] | None:
        """The comparison of models with people; None without pairs or scores."""
        if self.report is not None or self.pairs is None or self.scores is None:
            return self.report
        return compare_report(
            self.human,
            self.pairs,
            self.scores,
            already_standardized=self.already_standardized,
            signs=self.signs,
            deltas=self.deltas,
            seed=self.seed,
        )

    @property
    def ceiling(self) -> dict[float, float]:
        """The ADC of another sample of people by δ, as far as the comparison knows it."""
        found = (self.comparison or {}).get("baselines", {}).get("human_ceiling") or {"adc": {}}
        return {float(key): value for key, value in found["adc"].items() if value is not None}
