"""The lines before magnitude estimation, and the number of one's own: plain fields, drawn without script."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judgments.models import Session
from judgments.sessions.protocol import protocol_of
from judgments.sessions.warm_up import lengths_for
from judgments.tasks.base import BadResponse
from judgments.tasks.line_lengths import REFERENCE_PX

NUMBER = {"inputmode": "decimal", "autocomplete": "off", "maxlength": 40}


class NumberField(forms.CharField):
    """A number as the session's task reads it; kept as it was typed."""

    def __init__(self, session: Session, **options: Any) -> None:
        super().__init__(
            max_length=40,
            strip=False,
            widget=forms.TextInput(attrs=NUMBER),
            error_messages={"required": _("Please type a number.")},
            **options,
        )
        self.session = session

    def clean(self, value: Any) -> tuple[str, float]:
        """What was typed, and the number it means."""
        typed, protocol = super().clean(value), protocol_of(self.session.version)
        try:
            return typed, protocol.task.parse(typed, protocol.settings, options=()).value
        except BadResponse as problem:
            raise forms.ValidationError(problem.said_in(gettext)) from None


class LinesForm(forms.Form):
    """One number for every line."""

    def __init__(self, session: Session, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, use_required_attribute=True, label_suffix="", **kwargs)
        self.lengths = lengths_for(session)
        for place in range(1, len(self.lengths) + 1):
            label = gettext("Line %(n)s") % {"n": place}
            self.fields[f"line_{place}"] = NumberField(session, label=label)

    def lines(self) -> list[dict[str, Any]]:
        """Fields with the lines they are about, in pixels."""
        return [
            {"field": field, "px": round(REFERENCE_PX * length)}
            for field, length in zip(self, self.lengths, strict=True)
        ]

    def typed(self) -> list[str]:
        """The answers as typed."""
        return [self.cleaned_data[name][0] for name in self.fields]

    def estimates(self) -> list[float]:
        """The answers as numbers."""
        return [self.cleaned_data[name][1] for name in self.fields]


class ModulusForm(forms.Form):
    """A number of one's own for the reference sentence."""

    def __init__(self, session: Session, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, use_required_attribute=True, label_suffix="", **kwargs)
        self.fields["number"] = NumberField(
            session,
            label=_("Which number do you give it?"),
            help_text=_(
                "Any number above 0 will do. One that is easy to double and to halve makes the rest easy. "
                "It stays in view."
            ),
        )
