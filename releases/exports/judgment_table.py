"""The download of judgments for analysis: one row per judgment, with texts, factors, z and exclusion."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.aggregation.ratings import transform_ratings
from analysis.aggregation.undecided import is_undecided
from analysis.columns import CONTRACT, EXPORT_COLUMNS
from analysis.errors import UnknownName
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Plan
from analysis.rows import RATING_TASKS
from experiments.materials.markup import plain
from experiments.models import Experiment, TrialKind
from experiments.tasks.registry import shown_task
from judgments.frames.labels import material_texts
from judgments.models import Judgment
from releases.gold.plans import NONE, find_plan, judgments_for

ALL_KINDS = "all"
MARK, DROP = "mark", "drop"  # what happens to excluded judgments
FROM_FRAME = ("kind", "phenomenon", "paradigm", "expected", "list", "round")
OF_PAIRS = ("sentence_good", "sentence_bad", "chosen")


@dataclass(frozen=True)
class JudgmentTable:
    """The table before texts are added to its blocks."""

    experiment: Experiment
    plan: Plan
    frame: pd.DataFrame
    texts: dict[str, str]
    """Text by sentence."""
    members: dict[str, tuple[str, str]]
    """Texts of the good and the bad member by pair."""

    @property
    def columns(self) -> list[str]:
        """The columns of the contract, then kinds, factors, texts, z, list and exclusion."""
        return table_columns(self.experiment)

    def with_texts(self, block: pd.DataFrame) -> pd.DataFrame:
        """A block of rows with the sentences shown."""
        sentence = block["sentence_id"].astype(object).map(self.texts)
        pairs = block["pair_id"].astype(object)
        cells: dict[str, Any] = {"sentence": sentence.where(sentence.notna(), None)}
        if shown_task(self.experiment.task).shows == "pair":
            for place, name in enumerate(OF_PAIRS[:2]):
                texts = pairs.map({key: texts[place] for key, texts in self.members.items()})
                cells[name] = texts.where(texts.notna(), None)
            cells["chosen"] = chosen_members(block)
        without_id = block["sentence_id"].isna() | (block["sentence_id"].astype(object) == "")
        unpaired = pairs.isna() | (pairs == "")
        return with_written_texts(block.assign(**cells), (without_id & unpaired).to_numpy())


def judgment_table(
    experiment: Experiment, *, exclude: str = "", kinds: str = TrialKind.TARGET, excluded: str = MARK
) -> JudgmentTable:
    """The judgments of some kinds of trials (a comma list, or *all*), excluded ones marked or dropped."""
    if excluded not in (MARK, DROP):
        raise UnknownName("choice for excluded judgments", excluded, (MARK, DROP))
    plan = find_plan(experiment, exclude)
    judgments = judgments_for(experiment, plan)
    result = apply_plan(judgments, plan)
    # z of the kept ratings of all kinds: fillers belong to a participant's scale
    judgments = judgments.assign(**standardize_judgments(result.kept, experiment.task))
    steps = dict(zip(result.mask["trial"], result.mask["step"], strict=True))
    judgments["exclusion"] = judgments["trial"].map(steps).astype(object) if steps else None
    judgments["exclusion_plan"] = f"{plan.name}@{plan.version}" if plan.created_at else plan.name or NONE
    rows = of_kinds(judgments, kinds)
    if excluded == DROP and steps:
        rows = rows & judgments["exclusion"].isna().to_numpy()
    texts, members = material_texts(experiment)
    return JudgmentTable(experiment, plan, judgments[rows], texts, members)


def of_kinds(judgments: pd.DataFrame, kinds: str) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Rows of trials of these kinds."""
    names = [name.strip() for name in kinds.split(",") if name.strip()]
    if names == [ALL_KINDS]:
        return np.ones(len(judgments), dtype=bool)
    for name in names:
        if name not in TrialKind.values:
            raise UnknownName("kind of trial", name, [*TrialKind.values, ALL_KINDS])
    rows: np.ndarray[Any, np.dtype[np.bool_]] = judgments["kind"].isin(names).to_numpy()
    return rows


def standardize_judgments(judgments: pd.DataFrame, task: str) -> dict[str, Any]:
    """z-scores as on the page *Ratings*; of magnitudes also of their logarithms. None of other tasks."""
    if task not in RATING_TASKS:
        return {}
    columns = {"z": transform_ratings(judgments, transform="z")}
    if task == "magnitude_estimation":
        columns["z_log"] = transform_ratings(judgments, transform="z-log")
    return columns


def table_columns(experiment: Experiment) -> list[str]:
    """Columns of the table of a study, which depend on its task and factors."""
    task = experiment.task
    factors = list(experiment.materials.levels) if experiment.materials else []
    left_out = {name for name in ("z", "z_log") if task not in RATING_TASKS}
    if task != "magnitude_estimation":
        left_out.add("z_log")
    if shown_task(task).shows != "pair":
        left_out |= set(OF_PAIRS)
    names = [*FROM_FRAME[:3], *factors, *EXPORT_COLUMNS]
    names[names.index("z") : names.index("z")] = ["expected"]
    names[names.index("exclusion") : names.index("exclusion")] = ["list", "round"]
    return [*CONTRACT, *(name for name in names if name not in left_out)]


def chosen_members(block: pd.DataFrame) -> pd.Series:
    """Which member of its pair each answer chose."""
    has_choice = block["sentence_id"].notna() & (block["sentence_id"].astype(object) != "")
    value = block["value"].to_numpy()
    chosen = np.select([has_choice & (value == 1), has_choice & (value == 0)], ["good", "bad"], default="")
    for answer in ("both", "neither"):
        chosen = np.where(is_undecided(block, answer=answer), answer, chosen)
    return pd.Series(chosen, index=block.index, dtype=object).replace("", None)


def with_written_texts(block: pd.DataFrame, rows: "np.ndarray[Any, Any]") -> pd.DataFrame:
    """Add the texts of sentences that the study's settings hold (practice, anchors, catch trials)."""
    if not rows.any():
        return block
    trials = [int(trial) for trial in block["trial"].to_numpy()[rows]]
    answers = Judgment.objects.filter(trial__in=trials).values_list("trial_id", "trial__shown", "response")
    texts = {str(trial): shown_text(screen, response) for trial, screen, response in answers}
    sentence = block["sentence"].astype(object).copy()
    sentence[rows] = [texts.get(str(trial)) for trial in block["trial"].to_numpy()[rows]]
    return block.assign(sentence=sentence)


def shown_text(screen: Any, response: str) -> str | None:
    """The sentence of a screen; of several, the one that the response names."""
    screen = screen if isinstance(screen, dict) else {}
    options = [option for option in screen.get("options", ()) if option.get("id") == response] or [screen]
    text = options[0].get("text")
    return plain(text) if text and options[0].get("markup") else text
