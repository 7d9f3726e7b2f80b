"""Validation of a set of pairs by BLiMP's design: participants choose between the members of some pairs.

Five pairs of each paradigm are shown, five to a person (of different paradigms, where there are several),
with one attention item, and each to twenty participants. A paradigm is included if the majority is right on
four of five.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from analysis.errors import BadInput
from analysis.power.exact import inclusion_power, sign_power
from analysis.power.money import format_money
from analysis.power.report import Price
from analysis.text import plural
from experiments.generation.paradigms.language import read_language
from experiments.generation.stored.pair_sets import build_materials
from experiments.intake.store import MaterialSetInfo, store_materials
from experiments.lists.rounds import MOST_LISTS
from experiments.models import Design, Experiment, Lab, PairSet
from experiments.studies.creation import create_study
from experiments.studies.targets import minutes, participants_needed

TASK = "forced_choice"
PAIRS, NEEDED, JUDGMENTS, PER_SESSION = 5, 4, 20, 5
SIDES = 2  # lists of each five pairs: every pair with either member first
MOST_PARADIGMS = MOST_LISTS // SIDES
MOST_JUDGMENTS = 1000
#: Shares of right choices: chance, doubtful paradigms, the mean of BLiMP's participants (.886), clear ones.
SHARES = (0.5, 0.6, 0.7, 0.8, 0.886, 0.95)
RULE = "blimp"


@dataclass(frozen=True)
class ValidationPlan:
    """Requirements of a validation, before it is created.

    Attributes
    ----------
    n_paradigms, judgments : int
        Paradigms, and choices for each pair.
    price : Price
        Reward and fee of one participant.
    currency : str
    minutes : int
        Estimated duration of a session.
    """

    n_paradigms: int
    judgments: int
    price: Price
    currency: str
    minutes: int

    @property
    def n_pairs(self) -> int:
        """Pairs to judge."""
        return PAIRS * self.n_paradigms

    @property
    def n_lists(self) -> int:
        """Lists of five pairs, each with both orders of the members."""
        return SIDES * ceil(self.n_pairs / PER_SESSION)

    @property
    def participants(self) -> int:
        """Participants needed until each pair has its judgments; each pair is in two lists."""
        return participants_needed(self.judgments, n_lists=self.n_lists, fewest=SIDES)

    @property
    def n_judgments(self) -> int:
        """Choices in all, without attention items."""
        return self.judgments * self.n_pairs

    @property
    def cost(self) -> str:
        """Rewards and fees of all participants; empty where nothing is paid."""
        cost_minor = self.price.of(self.participants)["cost_minor"]
        return format_money(cost_minor, self.currency) if cost_minor else ""

    @property
    def power(self) -> list[dict[str, float]]:
        """Power on one pair, and probability of inclusion, for each share of right choices."""
        pair = sign_power(self.judgments, SHARES)
        included = inclusion_power(SHARES, judgments=self.judgments, needed=NEEDED, items=PAIRS)
        return [
            {"share": share, "pair": float(one), "included": float(all_)}
            for share, one, all_ in zip(SHARES, pair, included, strict=True)
        ]


def build_plan(
    pair_set: PairSet,
    *,
    judgments: int = JUDGMENTS,
    price: Price | None = None,
    currency: str = "GBP",
    instructions: str = "",
) -> ValidationPlan:
    """Return what a validation of a set takes."""
    if not SIDES <= judgments <= MOST_JUDGMENTS:
        raise BadInput(f"{judgments} judgments of each pair.", remedy=f"Take 2 to {MOST_JUDGMENTS:,}.")
    n_paradigms = len(sampled_keys(pair_set)) // PAIRS
    if n_paradigms > MOST_PARADIGMS:
        raise BadInput(
            f"the set has {n_paradigms} paradigms.",
            remedy=f"A study has at most {MOST_PARADIGMS}; draw two sets.",
        )
    study = Experiment(task=TASK, language=pair_set.language, instructions=instructions)
    return ValidationPlan(
        n_paradigms, judgments, price or Price(), currency, minutes(study, n_trials=PER_SESSION + 1)
    )


def sampled_keys(pair_set: PairSet) -> list[str]:
    """Return the pairs to judge: five of each paradigm at random, by the seed of the set."""
    keys: dict[str, list[str]] = {name: [] for name in pair_set.paradigms}
    rows = pair_set.pairs.filter(is_struck=False).values_list("paradigm", "key").order_by("pk")
    for paradigm, key in rows.iterator():
        keys.setdefault(paradigm, []).append(key)
    rng = np.random.default_rng([pair_set.seed, PAIRS])
    sampled = []
    for paradigm, pair_keys in keys.items():
        if len(pair_keys) < PAIRS:
            raise BadInput(
                f"{paradigm} has {len(pair_keys)} pairs that are not struck.",
                remedy=f"{PAIRS} of each are needed.",
            )
        sampled += [pair_keys[place] for place in sorted(rng.choice(len(pair_keys), PAIRS, replace=False))]
    return sampled


@transaction.atomic
def create_validation(
    pair_set: PairSet,
    user: User,
    *,
    title: str,
    plan: ValidationPlan,
    instructions: str = "",
    lab: Lab | None = None,
) -> Experiment:
    """Create the draft of a validation; a second press of the button returns the same draft."""
    # Race: two presses at once; the second waits here, and finds the draft of the first.
    locked = PairSet.objects.select_for_update(of=("self",)).get(pk=pair_set.pk)
    if locked.drawn_at is None:
        raise BadInput("the pairs are still being drawn.", remedy="Wait for the job.")
    keys = sampled_keys(locked)
    materials = build_materials(locked, keys=set(keys))
    info = MaterialSetInfo(
        name=f"{locked.name[:150]}, validation {locked.pk}-{materials.checksum[:8]}",
        language=locked.language,
        source=f"{PAIRS} pairs of each paradigm of the set {locked.name!r}, seed {locked.seed}."[:500],
    )
    stored = store_materials(materials, info, owner=user).material_set
    fields: dict[str, Any] = {
        "materials": stored,
        "target_judgments": plan.judgments,
        "reward_minor": plan.price.reward_minor,
        "currency": plan.currency,
    }
    earlier = locked.validations.filter(owner=user, status=Experiment.Status.DRAFT, title=title, **fields)
    if (draft := earlier.first()) is not None:
        return draft
    study = create_study(
        user,
        title=title,
        task=TASK,
        language=locked.language,
        description=_description(plan),
        instructions=instructions,
        catch_trials=[attention_item(locked, keys)],
        lab=lab,
        **fields,
    )
    Design.objects.filter(experiment=study).update(
        kind=Design.Kind.SPLIT,
        n_lists=plan.n_lists,
        items_per_paradigm=None,
        catch_per_list=1,
    )
    locked.validations.add(study)
    return study


def _description(plan: ValidationPlan) -> str:
    return (
        f"Validation by BLiMP's design: {PAIRS} pairs of each of {plural(plan.n_paradigms, 'paradigm')}, "
        f"{PER_SESSION} pairs and an attention item a person, {plan.judgments} choices of each pair. "
        f"A paradigm is included if the majority is right on {NEEDED} of {PAIRS} pairs (rule {RULE})."
    )


def attention_item(pair_set: PairSet, keys: list[str]) -> dict[str, Any]:
    """Return a catch trial: an acceptable sentence that is not judged, and its words in reverse order."""
    rows = pair_set.pairs.filter(is_struck=False).order_by("pk")
    pair = rows.exclude(key__in=keys).first() or rows[0]
    return {
        "options": [{"text": pair.good}, {"text": reversed_words(pair.good, pair_set.language)}],
        "correct": 0,
    }


def reversed_words(text: str, language: str) -> str:
    """Return a sentence with its words, or its characters where words are written together, in reverse order.

    Examples
    --------
    >>> reversed_words("The owl has slept.", "en")
    'Slept has owl the.'
    """
    settings = read_language(language)
    mark = text[-1] if text[-1] in settings.marks else ""
    body = text.removesuffix(mark)
    words = body.split(settings.joiner) if settings.joiner else list(body)
    if settings.capital:
        words[0] = words[0][:1].lower() + words[0][1:]
    reverse = settings.joiner.join(words[::-1])
    return (reverse[:1].upper() + reverse[1:] if settings.capital else reverse) + mark
