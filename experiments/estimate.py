"""How long a study takes, before anybody has taken it."""

from math import ceil

from experiments.models import Experiment

TRIAL_SECONDS = {
    "forced_choice": 6,
    "likert": 6,
    "yes_no": 5,
    "slider": 7,
    "magnitude_estimation": 10,
    "best_worst": 12,
}
OTHER_TRIAL, QUESTION, QUIZ_QUESTION = 8, 8, 15  # seconds
SIGNS_PER_SECOND = {"zh": 5, "ja": 6}
OTHER_SIGNS = 18  # about 200 words a minute


def minutes(study: Experiment, *, n_trials: int) -> int:
    """Whole minutes for the texts, the questions and so many trials, rounded up."""
    texts = f"{study.consent}{study.instructions}{study.debrief}"
    reading = len(texts) / SIGNS_PER_SECOND.get(study.language[:2].lower(), OTHER_SIGNS)
    asking = QUESTION * len(study.questionnaire) + QUIZ_QUESTION * len(study.quiz)
    return max(1, ceil((reading + asking + TRIAL_SECONDS.get(study.task, OTHER_TRIAL) * n_trials) / 60))
