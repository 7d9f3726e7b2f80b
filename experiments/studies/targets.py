"""Requirements of a study's target: participants, minutes and rewards.

A target is a number of judgments of each sentence, or of each pair where participants choose between two.
Studies that were opened with a target for each item set keep it (``Experiment.target_unit``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from analysis.power.money import format_money
from analysis.text import plural
from experiments.design.trials import PlannedTrial
from experiments.design.tuples import member_keys
from experiments.lists.balance_report import RoundProof
from experiments.models import Experiment, MinimalPair, Sentence
from experiments.tasks.registry import shown_task

TRIAL_SECONDS = {  # median of one trial, by task
    "forced_choice": 6,
    "likert": 6,
    "yes_no": 5,
    "slider": 7,
    "magnitude_estimation": 10,
    "best_worst": 12,
}
LONG_MINUTES = 30  # longer sessions tire participants
OTHER_TRIAL, QUESTION, QUIZ_QUESTION = 8, 8, 15  # seconds
CHARACTERS_PER_SECOND = {"zh": 5, "ja": 6}
OTHER_CHARACTERS = 18  # about 200 words a minute


@dataclass(frozen=True)
class Requirement:
    """Requirements of the target of one round.

    Attributes
    ----------
    target : int
        Judgments of each sentence, pair or item set; 0 without a target.
    n_lists, n_trials : int
        Lists, and trials of the longest one.
    n_counted : int
        Sentences, pairs or item sets that the lists show.
    fewest : int
        How often the lists together show the one that they show least.
    limit : int or None
        The limit of participants.
    minutes : int
        Estimated duration of a session.
    reward_minor : int
        Reward of a session.
    """

    target: int
    n_lists: int
    n_trials: int
    n_counted: int
    fewest: int
    limit: int | None
    minutes: int
    reward_minor: int

    @property
    def participants(self) -> int:
        """Participants until the least shown one has its judgments, because lists are filled evenly."""
        return participants_needed(self.target, n_lists=self.n_lists, fewest=self.fewest)

    @property
    def even_target(self) -> int:
        """The next target that fills every list equally often."""
        return ceil(self.target / self.fewest) * self.fewest if self.fewest else 0

    @property
    def cost_minor(self) -> int:
        """Rewards of all participants, without fees."""
        return self.participants * self.reward_minor

    @property
    def n_judgments(self) -> int:
        """Judgments until the target is reached, of those shown least."""
        return self.target * self.n_counted


def participants_needed(target: int, *, n_lists: int, fewest: int) -> int:
    """Return the participants for a target, where the lists together show each sentence ``fewest`` times.

    Examples
    --------
    >>> participants_needed(20, n_lists=4, fewest=1)
    80
    """
    return ceil(target * n_lists / fewest) if fewest else 0


def counted_noun(study: Experiment) -> str:
    """Return what the target counts judgments of: sentence, pair or item set."""
    if study.target_unit == Experiment.TargetUnit.ITEM:
        return "item set"
    return "pair" if shown_task(study.task).shows == "pair" else "sentence"


def target_noun(study: Experiment) -> str:
    """Return the kind of number that the target is, such as *ratings of each sentence*."""
    noun = counted_noun(study)
    is_rating = noun == "sentence" and shown_task(study.task).shows == "sentence"
    return f"{'ratings' if is_rating else 'judgments'} of each {noun}"


def target_label(study: Experiment) -> str:
    """Return the label of the target's field."""
    noun = target_noun(study)
    return noun[0].upper() + noun[1:]


def compute_requirement(study: Experiment, proof: RoundProof) -> Requirement:
    """Return what the target of a planned round takes."""
    target, limit = proof.round.target_judgments, proof.round.max_participants
    showings = _showings(study, proof.lists)
    n_trials = max((len(trials) for trials in proof.lists.values()), default=0)
    return Requirement(
        target=(study.target_judgments if target is None else target),
        n_lists=len(proof.lists),
        n_trials=n_trials,
        n_counted=len(showings),
        fewest=min(showings.values(), default=0),
        limit=study.max_participants if limit is None else limit,
        minutes=minutes(study, n_trials=n_trials),
        reward_minor=study.reward_minor,
    )


def _showings(study: Experiment, lists: Mapping[str, Sequence[PlannedTrial]]) -> Counter[str]:
    """Count how often the lists show each sentence, pair or item set."""
    targets = [trial for trials in lists.values() for trial in trials if trial.kind == "target"]
    keys = [key for trial in targets for key in member_keys(trial)]
    if study.target_unit != Experiment.TargetUnit.ITEM:
        return Counter(keys)
    rows: Any = Sentence.objects.values_list("pk", "item")
    if shown_task(study.task).shows == "pair":
        rows = MinimalPair.objects.values_list("pk", "good__item")
    # The whole material set instead of the keys: SQLite takes no more than 250,000 parameters.
    items = dict(rows.filter(material_set=study.materials_id))
    return Counter(str(items[int(key)]) for key in keys)


def describe_requirement(study: Experiment, requirement: Requirement) -> str:
    """Return the target with participants, minutes and rewards, as a sentence."""
    if not requirement.target:
        return "There is no target: recruiting goes on until you close the study."
    n_lists = requirement.n_lists
    each = requirement.participants // n_lists if requirement.participants % n_lists == 0 else 0
    lists = f" ({each} for each of {n_lists} lists)" if each and n_lists > 1 else ""
    cost = (
        f", {format_money(requirement.cost_minor, study.currency)} in rewards, without fees"
        if requirement.reward_minor
        else ""
    )
    return (
        f"{requirement.target} {target_noun(study)} take {plural(requirement.participants, 'participant')}"
        f"{lists}, about {requirement.minutes} min each{cost}."
    )


def reading_seconds(n_characters: int, language: str) -> float:
    """Return the time in which a text is read.

    Examples
    --------
    >>> reading_seconds(36, "en"), reading_seconds(12, "ja-JP")
    (2.0, 2.0)
    """
    return n_characters / CHARACTERS_PER_SECOND.get(language[:2].lower(), OTHER_CHARACTERS)


def uneven_reasons(study: Experiment, requirement: Requirement) -> Iterator[str]:
    """Reasons why the target number of participants will not fill the lists of a round equally often."""
    target, fewest, n_lists = requirement.target, requirement.fewest, requirement.n_lists
    noun = counted_noun(study)
    if not target or not fewest:
        return
    if target % fewest:
        yield (
            f"{n_lists} lists show {'an' if noun == 'item set' else 'a'} {noun} {fewest} times, so {target} "
            f"{target_noun(study)} leave some lists with one session less: "
            f"{requirement.even_target} come out even."
        )
    needed = requirement.participants
    if requirement.limit and requirement.limit < needed:
        yield (
            f"The limit of {requirement.limit} participants comes before the {needed} for {target} "
            f"{target_noun(study)}."
        )


def minutes(study: Experiment, *, n_trials: int) -> int:
    """Minutes for the texts, the questions and the trials, rounded up."""
    texts = f"{study.consent}{study.instructions}{study.debrief}"
    reading = reading_seconds(len(texts), study.language)
    asking = QUESTION * len(study.questionnaire) + QUIZ_QUESTION * len(study.quiz)
    return max(1, ceil((reading + asking + seconds_per_trial(study.task) * n_trials) / 60))


def seconds_per_trial(task: str) -> int:
    """Median seconds of one trial of a task."""
    return TRIAL_SECONDS.get(task, OTHER_TRIAL)
