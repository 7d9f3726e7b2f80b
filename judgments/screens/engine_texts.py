"""Texts of the trial engine in the participant's language."""

from functools import lru_cache

from django.utils.translation import get_language

from experiments.studies.wording import active_texts
from experiments.studies.wording import gettext as _


def engine_texts() -> dict[str, str]:
    """All texts of the engine; the same sentences as on the pages without JavaScript."""
    return _texts_in(get_language(), active_texts())


@lru_cache(maxsize=100)
def _texts_in(language: str | None, texts_of_study: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {
        "saved": _("Answers saved"),
        "saving": _("Saving your answers"),
        "reconnecting": _("Reconnecting. Answers kept on this device: %(n)s"),
        "memory_only": _("Reconnecting. Answers kept on this page only: %(n)s. Please leave it open."),
        "barred": _("Answers to be saved with the next page: %(n)s. Please leave this page open."),
        "saved_memory": _(
            "Answers saved. This browser cannot keep answers on this device: please leave the page open."
        ),
        "leave_open": _("This browser cannot keep answers on this device: please leave the page open."),
        "next": _("Next"),
        "go_on": _("Go on"),
        "begin": _("Begin"),
        "continue": _("Continue"),
        "practice": _("Practice"),
        "practice_over": _("That was the practice"),
        "no_feedback": _(
            "Now the study itself begins. There is no feedback from here on, and no right or wrong: "
            "your own impression counts."
        ),
        "block_of": _("Block %(now)s of %(all)s"),
        "trial_of": _("%(now)s of %(all)s"),
        "block_done": _("Block %(now)s of %(all)s is done"),
        "no_clock": _("Take a moment if you like: no clock is running."),
        "comment": _("Comment by the researchers"),
        "minutes_left": _("about %(minutes)s min left"),
        "your_answer": _("Your answer:"),
        "you_chose": _("You chose this sentence."),
        "welcome_back": _("Welcome back"),
        "kept_so_far": _("Your answers so far are kept. You can go on where you stopped."),
        "instructions": _("Instructions"),
        "last_answers": _("Saving your last answers"),
        "please_wait": _(
            "Your completion code appears as soon as every answer is saved. Please leave this page open."
        ),
        "other_tab": _("This study is open in another tab"),
        "go_there": _("Please go on there. Nothing is lost: your answers so far are kept."),
        "use_this": _("Go on here instead"),
        "gone": _("This session cannot be found any more"),
        "too_early": _("That was very quick: please read first, then answer."),
        "reference": _("Reference"),
        "your_number": _("Your number"),
        "number_hint": _(
            "Twice as acceptable as the reference is %(twice)s, half as acceptable is %(half)s. "
            "Any number above 0 will do."
        ),
        "number_missing": _("Please type a number."),
        "number_form": _("Please type one number in digits, such as 80 or 62.5, without signs or words."),
        "number_positive": _(
            "Please type a number above 0. However bad a sentence is, there is a small number for it."
        ),
        "number_large": _("That number is too large to store. Please type a smaller one."),
        "choose": _("Please choose an answer."),
        "keys": _("Keys"),
    }
