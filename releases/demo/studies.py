"""The demo's four studies, one per task, open for participants."""

from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from analysis.errors import BadInput
from experiments.generation import catch_pairs
from experiments.models import Design, Experiment, MaterialSet, Membership
from experiments.studies.lifecycle import open_study

CONSENT = (
    "This is a demonstration study about English sentences. It takes about five minutes.\n\n"
    "Taking part is voluntary, and you may stop at any time without giving a reason. Your answers are stored "
    "under a pseudonym on the machine that runs this page, and nowhere else."
)
DEBRIEF = (
    "Thank you. Some of the sentences broke one rule of English, such as the agreement of a verb with its "
    "subject. We look at how sure people are about each rule, and whether language models are as sure."
)
QUESTIONNAIRE = [
    {
        "name": "native",
        "label": "Is English your native language, or one of them?",
        "type": "yes_no",
        "required": True,
        "role": "native_language",
        "native": ["yes"],
    },
    {"name": "age", "label": "How old are you?", "type": "number", "min": 18, "max": 120},
    {
        "name": "education",
        "label": "Have you studied linguistics?",
        "type": "choice",
        "choices": ["No", "A little", "Yes"],
    },
]
SEED = 20260
TARGET_JUDGMENTS = 250  # per item; high, so that visitors can always take part


@dataclass(frozen=True)
class StudyPlan:
    """One study of the demo."""

    slug: str
    title: str
    task: str
    description: str
    instructions: str
    parameters: dict[str, Any] = field(default_factory=dict)
    design: dict[str, Any] = field(default_factory=dict)
    extras: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def plain_pairs(n_catch: int, n_practice: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Pairs with an obvious answer, for catch and practice trials."""
    pairs = catch_pairs(n_catch + n_practice, seed=SEED)
    return pairs[:n_catch], pairs[n_catch:]


def _pair_extras() -> dict[str, list[dict[str, Any]]]:
    catch, practice = plain_pairs(4, 2)

    def options(pair: tuple[str, str]) -> dict[str, Any]:
        return {"options": [{"text": text} for text in pair], "correct": 0}

    feedback = "The first words of the other sentence cannot begin it in English."
    return {
        "catch_trials": [options(pair) for pair in catch],
        "practice": [{**options(pair), "feedback": feedback} for pair in practice],
    }


def _rating_extras(good: list[float], bad: list[float]) -> dict[str, list[dict[str, Any]]]:
    """Catch and practice sentences, alternately acceptable and scrambled, with their right answers."""
    catch, practice = plain_pairs(4, 2)

    def trial(number: int, pair: tuple[str, str]) -> dict[str, Any]:
        return {"text": pair[number % 2], "correct": bad if number % 2 else good}

    feedback = ("This is ordinary English.", "These are the words of a sentence in an impossible order.")
    return {
        "catch_trials": [trial(n, pair) for n, pair in enumerate(catch)],
        "practice": [{**trial(n, pair), "feedback": feedback[n]} for n, pair in enumerate(practice)],
    }


def plans() -> list[StudyPlan]:
    """The studies of the demo."""
    return [
        StudyPlan(
            "demo",
            "Which sentence sounds better?",
            "forced_choice",
            "Forced choice over six paradigms, four lists, sides balanced: the demo's main study.",
            "You will see two sentences that differ in a word or two. Choose the one that sounds better to "
            "you as a sentence of English. Do not think long: your first feeling is what we are after.",
            design={"kind": "sample", "n_lists": 4, "items_per_paradigm": 4},
            extras=_pair_extras(),
        ),
        StudyPlan(
            "demo-likert",
            "How natural is this sentence? (1 to 7)",
            "likert",
            "A seven-point scale over the same sentences, each item in one condition per list.",
            "You will see one sentence at a time. Say how natural it sounds to you as a sentence of English, "
            "from 1 (completely unnatural) to 7 (completely natural). There are no right answers.",
            parameters={"points": 7},
            design={"kind": "latin_square", "n_lists": 2, "trials_per_block": 26},
            extras=_rating_extras([5, 7], [1, 3]),
        ),
        StudyPlan(
            "demo-yes-no",
            "Is this a possible sentence of English?",
            "yes_no",
            "A 2 × 2 design of whether-islands, sixteen items over four lists.",
            "You will see one question at a time. Say whether it is a possible question of English. "
            "It does not matter whether anybody would ask it.",
            design={"kind": "latin_square", "n_lists": 4},
            extras=_rating_extras([1, 1], [0, 0]),
        ),
        StudyPlan(
            "demo-magnitude",
            "How acceptable, compared with a reference?",
            "magnitude_estimation",
            "Magnitude estimation over the same sentences against a reference of middling acceptability.",
            "You will see a reference sentence with a number, and a sentence to judge. Give the sentence a "
            "number: twice as large if it is twice as acceptable, half as large if it is half as acceptable. "
            "Any positive number will do.",
            parameters={"reference": "What did the nurse whisper that the guests ordered?", "modulus": 100},
            design={"kind": "sample", "n_lists": 2, "items_per_paradigm": 4},
            extras=_rating_extras([101, 100000], [0.001, 99]),
        ),
    ]


@transaction.atomic
def open_demo_study(plan: StudyPlan, materials: MaterialSet, owner: User) -> Experiment:
    """Create and open a study; an existing one is returned unchanged."""
    study = Experiment.objects.filter(slug=plan.slug).first()
    if study is not None:
        if study.owner_id != owner.pk:
            raise BadInput(
                f"there is a study named {plan.slug!r} that is not the demo's.",
                remedy="Give it another short name.",
            )
        return study
    study = Experiment.objects.create(
        slug=plan.slug,
        title=plan.title,
        description=plan.description,
        task=plan.task,
        parameters=plan.parameters,
        instructions=plan.instructions,
        consent=CONSENT,
        questionnaire=QUESTIONNAIRE,
        debrief=DEBRIEF,
        materials=materials,
        owner=owner,
        seed=SEED,
        target_judgments=TARGET_JUDGMENTS,
        **plan.extras,
    )
    Membership.objects.create(experiment=study, user=owner, role=Membership.Role.OWNER)
    Design.objects.create(experiment=study, seed=SEED, **plan.design)
    return open_study(study, owner)
