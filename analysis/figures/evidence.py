"""The data that figures are drawn from: judgments under a plan, pairs and scores, power, corpora."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ..agreement.report import agreement_report
from ..comparison.ceilings.responses import counted_judgments
from ..comparison.criteria import Signs
from ..comparison.in_depth.abilities import ability_scale
from ..comparison.in_depth.linking import linking_functions
from ..comparison.in_depth.models import roster
from ..comparison.in_depth.surprisal import surprisal_models
from ..comparison.pairs import PairTable, pair_table
from ..comparison.report import comparison_document
from ..effects.five_analyses import FiveAnalyses, five_analyses
from ..exclusions.apply import Excluded, apply_plan
from ..exclusions.plan import Plan
from ..power.pilot import pilot_power
from ..rows import tasks
from .points import Addresses


@dataclass(frozen=True)
class Evidence:
    """Data from which figures are drawn; a figure whose data are absent shows a message instead.

    Parameters
    ----------
    judgments : DataFrame, optional
        All rows of a study before exclusion, including catch trials and fillers.
    plan : Plan
        Exclusion plan applied to ``judgments`` and named in every caption; by default none.
    stages : DataFrame, optional
        ``stage`` and ``participants``: numbers who opened, consented, started and finished, in this order.
    sessions : DataFrame, optional
        ``started_at`` and ``completed_at`` of each session, UTC.
    time_zone : str
        IANA name of the time zone in which moments are drawn.
    human : DataFrame, optional
        ``sentence_id`` and ``score``, as for :func:`obelus.comparison.report.compare_report`.
    pairs : DataFrame, optional
        ``pair_id``, ``good_id``, ``bad_id``, as for :func:`obelus.comparison.report.compare_report`.
    scores : DataFrame, optional
        ``sentence_id`` and one column per model, as for :func:`obelus.comparison.report.compare_report`.
    report : dict, optional
        A comparison computed before; by default it is computed from ``human``, ``pairs`` and ``scores``.
    number : int, optional
        Number of the comparison, which completes the address of its models.
    model : str
        The model of figures that show one; empty for the first.
    learning : DataFrame, optional
        ``model``, ``tokens``, ``phenomenon``, ``accuracy``: models trained on corpora of several sizes.
    planned : DataFrame, optional
        Power of a planned study by size, as ``designs`` of
        :func:`obelus.power.simulation.prospective_power`.
    chosen : int, optional
        Planned number of participants, marked in the figure of power.
    by : {"", "phenomenon", "paradigm"}
        Column that defines the tested contrasts; if empty, the phenomenon where it is known,
        else the paradigm.
    effects : dict, optional
        Document of :func:`obelus.effects.report.effects_report` for the kept rows; computed if absent.
    multiverse : dict, optional
        Document of :func:`obelus.exclusions.multiverse.multiverse_report`.
    groups : dict, optional
        Document of :func:`obelus.groups.report.groups_report`.
    sequential : dict, optional
        Document of :func:`obelus.bayesian.sequential.sequential_report`.
    replication : dict, optional
        Document of :func:`obelus.power.report.pilot_report` for the kept rows; computed if absent.
    factors : Mapping of str to sequence of str, optional
        Columns of the factors of the design in ``judgments``, each with its levels in order.
    stimuli : DataFrame, optional
        ``sentence_id``, ``item``, ``condition`` and the factors of all sentences.
    model_scores : DataFrame, optional
        ``sentence_id`` and one column per model, for the interactions of models over ``stimuli``.
    basis : str
        Text of captions in place of the plan's name, for numbers of a frozen release.
    sentences : Mapping of str to str
        Text of each sentence by id, shown on hover and used to find identical members.
    members : Mapping of str to str, optional
        Texts of each item by its name, shown on hover.
    addresses : Addresses
        Where points lead; by default nowhere.
    already_standardized : bool
        Whether model scores are used as given instead of being standardized.
    signs : {"strict", "published"}
        How the ADC treats differences of zero.
    deltas : tuple of float
        Values of δ at which the ADC is shown, in standard deviations.
    outliers : str
        Rule for outliers of response times, as :func:`obelus.effects.response_times.parse_outlier_rule`
        takes it.
    seed : int
        Seed of every random procedure.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a"], "item": ["i"], "value": [1], "task": ["forced_choice"]})
    >>> Evidence(judgments=rows).tasks, Evidence(judgments=rows).note
    (('forced_choice',), 'Plan: none.')
    """

    judgments: pd.DataFrame | None = None
    plan: Plan = Plan("none")
    stages: pd.DataFrame | None = None
    sessions: pd.DataFrame | None = None
    time_zone: str = "UTC"
    human: pd.DataFrame | None = None
    pairs: pd.DataFrame | None = None
    scores: pd.DataFrame | None = None
    report: Mapping[str, Any] | None = None
    number: int | None = None
    model: str = ""
    learning: pd.DataFrame | None = None
    planned: pd.DataFrame | None = None
    chosen: int | None = None
    by: str = ""
    effects: Mapping[str, Any] | None = None
    multiverse: Mapping[str, Any] | None = None
    groups: Mapping[str, Any] | None = None
    sequential: Mapping[str, Any] | None = None
    replication: Mapping[str, Any] | None = None
    factors: Mapping[str, Sequence[str]] | None = None
    stimuli: pd.DataFrame | None = None
    model_scores: pd.DataFrame | None = None
    basis: str = ""
    sentences: Mapping[str, str] | None = None
    members: Mapping[str, str] | None = None
    addresses: Addresses = Addresses()
    already_standardized: bool = False
    signs: Signs = "strict"
    deltas: tuple[float, ...] = (0.5, 1.0, 5.0)
    outliers: str = ""
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
        """The plan, for captions of figures that show all participants."""
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
        return five_analyses(self.kept, by=self.contrasts, random=None)

    @cached_property
    def power(self) -> pd.DataFrame:
        """The power of other numbers of participants, from the kept rows."""
        if self.replication is not None:
            table = pd.DataFrame(self.replication["phenomena"])
            return table.assign(task=self.replication["task"], test=self.replication["test"])
        return pilot_power(self.kept, by=self.contrasts, seed=self.seed).table

    @cached_property
    def table(self) -> PairTable | None:
        """Differences by pair; None without pairs or scores."""
        if self.pairs is None or self.scores is None:
            return None
        return pair_table(self.human, self.pairs, self.scores, already_standardized=self.already_standardized)

    @cached_property
    def comparison(self) -> Mapping[str, Any] | None:
        """The comparison of models with humans; None without pairs or scores."""
        if self.report is not None or self.table is None:
            return self.report
        return comparison_document(self.table, signs=self.signs, deltas=self.deltas, seed=self.seed)

    @cached_property
    def abilities(self) -> Mapping[str, Any] | None:
        """Rasch's scale of participants, models and pairs; None without judgments, pairs or scores."""
        stored = self._in_depth("abilities")
        if stored is not None:
            return dict(stored)
        if self.table is None or self.judgments is None:
            return None
        return ability_scale(self.table, counted_judgments(self.kept))

    @cached_property
    def linking(self) -> list[dict[str, Any]]:
        """The linking functions of each model; none without pairs or scores."""
        stored: list[dict[str, Any]] | None = self._in_depth("linking")
        if stored is not None or self.table is None:
            return stored or []
        return linking_functions(self.table, roster(self.table.models))

    @cached_property
    def surprisal(self) -> list[dict[str, Any]]:
        """Ratings modelled by the surprisal of each model; none without judgments, pairs or scores."""
        stored: list[dict[str, Any]] | None = self._in_depth("surprisal")
        if stored is not None or self.table is None or self.judgments is None:
            return stored or []
        return surprisal_models(self.table, roster(self.table.models), counted_judgments(self.kept))

    def _in_depth(self, name: str) -> Any:
        """Return a part of the stored comparison; None where it has none."""
        return ((self.report or {}).get("depth") or {}).get(name)

    @property
    def ceiling(self) -> dict[float, float]:
        """The ADC of another human sample by δ, as far as the comparison knows it."""
        ceiling = (self.comparison or {}).get("baselines", {}).get("human_ceiling") or {"adc": {}}
        return {float(key): value for key, value in ceiling["adc"].items() if value is not None}
