"""The questions about the instructions as a form; answers are sent as places, never as words."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from judgments.models import Session
from judgments.sessions.comprehension import answers_in_order, attempt_of, right_place
from judgments.sessions.protocol import protocol_of


class QuizForm(forms.Form):
    """One field per question; on the second attempt with the hints."""

    def __init__(self, session: Session, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, use_required_attribute=True, label_suffix="", **kwargs)
        self.session = session
        for number, question in enumerate(protocol_of(session.version).quiz):
            answers = answers_in_order(session, number)
            self.fields[f"answer_{number + 1}"] = forms.ChoiceField(
                label=question["question"],
                choices=[(str(place), text) for place, text in enumerate(answers, start=1)],
                widget=forms.RadioSelect,
                help_text=question.get("hint", "") if attempt_of(session) > 1 else "",
                error_messages={"required": _("Please answer this question.")},
            )

    def wrong(self) -> list[int]:
        """Numbers of the questions answered wrongly, from 0."""
        return [
            number
            for number in range(len(self.fields))
            if self.cleaned_data[f"answer_{number + 1}"] != right_place(self.session, number)
        ]
