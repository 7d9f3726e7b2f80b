"""Judgments as JSON, under the names of the contract."""

from typing import Any

from rest_framework import serializers

from analysis.columns import JUDGMENT_COLUMNS
from experiments.models import TrialKind
from judgments.models import Judgment


def text(name: str) -> serializers.CharField:
    """A column of text."""
    return serializers.CharField(read_only=True, allow_null=True, help_text=JUDGMENT_COLUMNS[name].meaning)


def whole_number(name: str) -> serializers.IntegerField:
    """A column of whole numbers."""
    return serializers.IntegerField(read_only=True, allow_null=True, help_text=JUDGMENT_COLUMNS[name].meaning)


class JudgmentSerializer(serializers.Serializer[Any]):
    """One judgment: the columns of a judgment file, then those that identify the trial."""

    participant = text("participant")
    session = text("session")
    item = text("item")
    condition = text("condition")
    sentence_id = text("sentence_id")
    trial = text("trial")
    task = text("task")
    response = text("response")
    value = serializers.FloatField(
        read_only=True, allow_null=True, help_text=JUDGMENT_COLUMNS["value"].meaning
    )
    rt_ms = whole_number("rt_ms")
    position = whole_number("position")
    shown_first = text("shown_first")
    kind = serializers.ChoiceField(TrialKind.choices, read_only=True)
    status = serializers.ChoiceField(Judgment.Status.choices, read_only=True)
    correct = serializers.BooleanField(read_only=True, allow_null=True)
    list = text("list")
    round = whole_number("round")
    paradigm = text("paradigm")
    pair_id = text("pair_id")
