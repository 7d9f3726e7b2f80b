"""Requests and responses of a session's endpoints, for the OpenAPI document.

The views themselves are plain Django (see :mod:`judgments.api.session_views`): storing an answer is
the busiest thing the platform does.
"""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.views import APIView

from config.api_schema import ErrorSerializer
from judgments.models import Judgment

Endpoint = tuple[str, str, str, Callable[..., Any]]  # path, pattern, method, view
INPUT_TYPES = [value for value in Judgment.InputType.values if value not in {"imported", ""}]
TOKEN = OpenApiParameter(
    "token", str, OpenApiParameter.PATH, description="The token of the session's address."
)


class ShownContextSerializer(serializers.Serializer[Any]):
    """The text above a sentence as it is to be shown."""

    lines = serializers.ListField(
        child=serializers.ListField(),
        help_text="Each a list as in a sentence's nodes; between two strings a line may break.",
    )
    has_phrases = serializers.BooleanField(help_text="Japanese and Chinese: lines break nowhere else.")
    label: Any = serializers.CharField(required=False, help_text="Above the lines, in the study's language.")
    is_dialogue = serializers.BooleanField(help_text="Every line is a turn, such as A: Who left?")
    language = serializers.CharField(help_text="BCP 47.")
    direction = serializers.ChoiceField(["ltr", "rtl"])


class ContextScreenSerializer(serializers.Serializer[Any]):
    """A context on a separate screen before the sentence."""

    ms = serializers.IntegerField(
        allow_null=True, help_text="How long it is shown; null: until a key or the button is pressed."
    )


class ShownSentenceSerializer(serializers.Serializer[Any]):
    """A sentence as it is to be shown."""

    id = serializers.CharField(help_text="Opaque; the answer to a forced choice.", allow_blank=True)
    text = serializers.CharField(help_text="Exactly as stored; without tags where it has inline markup.")
    nodes = serializers.ListField(
        required=False, help_text="Where it has markup: strings, and objects with tag, nodes, lang, dir."
    )
    phrases = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Japanese and Chinese: the parts of the text between which a line may break.",
    )
    context: Any = ShownContextSerializer(
        required=False, help_text="Where the options of a screen have different contexts."
    )
    language = serializers.CharField(help_text="BCP 47.")
    direction = serializers.ChoiceField(["ltr", "rtl"])


class PlannedTrialSerializer(serializers.Serializer[Any]):
    """One trial of the plan."""

    id = serializers.CharField(help_text="Opaque; names the trial in an answer.")
    position = serializers.IntegerField()
    block = serializers.IntegerField()
    is_practice = serializers.BooleanField()
    is_answered = serializers.BooleanField()
    options = ShownSentenceSerializer(many=True)
    sentence = ShownSentenceSerializer(allow_null=True)
    context: Any = ShownContextSerializer(
        required=False, help_text="Shown once, above the sentences or on a screen before them."
    )
    parts = serializers.DictField(required=False, help_text="Where they differ from the task's.")


class PlannedTaskSerializer(serializers.Serializer[Any]):
    """The task and what its screens have beside sentences."""

    name = serializers.CharField()
    question = serializers.CharField()
    parts = serializers.DictField()


class BetweenSerializer(serializers.Serializer[Any]):
    """A screen between two trials."""

    show = serializers.ChoiceField(["none", "blank", "fixation"])
    ms = serializers.IntegerField()


class DeadlineSerializer(serializers.Serializer[Any]):
    """Time for each answer."""

    ms = serializers.IntegerField(allow_null=True, help_text="From the onset; null without a limit.")
    has_bar = serializers.BooleanField(help_text="Whether a bar shows the time that is left.")


class TrialPlanSerializer(serializers.Serializer[Any]):
    """The plan of a session."""

    format = serializers.IntegerField()
    engine = serializers.CharField()
    study_version = serializers.CharField()
    language = serializers.CharField()
    direction = serializers.ChoiceField(["ltr", "rtl"])
    task = PlannedTaskSerializer()
    between = BetweenSerializer()
    context: Any = ContextScreenSerializer(
        required=False, help_text="Where contexts are on a separate screen before the sentence."
    )
    deadline = DeadlineSerializer()
    instructions = serializers.CharField(allow_blank=True, help_text="As typed.")
    instructions_nodes = serializers.ListField(help_text="Paragraphs, each a list as in a sentence's nodes.")
    place_kept = serializers.CharField(help_text="How long a break may last, said at the break.")
    resume_gap_s = serializers.IntegerField(help_text="Who was away longer reads the instructions first.")
    n_blocks = serializers.IntegerField()
    seconds_per_trial = serializers.IntegerField(help_text="Expected, for the minutes that remain.")
    trials = PlannedTrialSerializer(many=True)
    words = serializers.DictField(child=serializers.CharField())
    next = serializers.CharField(help_text="Address of the session's page.")


class AnswerSerializer(serializers.Serializer[Any]):
    """One answer."""

    trial = serializers.CharField(help_text="Id of the plan.")
    response = serializers.CharField(
        allow_blank=True, help_text="An option's id, a scale point, yes or no, or a typed number."
    )
    rt_ms = serializers.FloatField(required=False, allow_null=True, help_text="Onset to answer, in ms.")
    timed_out = serializers.BooleanField(
        required=False,
        help_text="The deadline passed; the response is what was chosen without confirmation, or empty.",
    )
    input_type = serializers.ChoiceField(INPUT_TYPES, required=False)
    answered_at = serializers.DateTimeField(required=False, help_text="The browser's clock.")
    timing = serializers.DictField(
        required=False, help_text="Further measurements: flags, numbers, short texts."
    )
    events = serializers.ListField(
        child=serializers.DictField(), required=False, help_text="What happened in the trial: kind, details."
    )


class DeliverySerializer(serializers.Serializer[Any]):
    """One to two hundred answers; none where there are events."""

    judgments = AnswerSerializer(many=True)
    events = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Problems of the browser's storage: kind (storage), details (what, reason).",
    )
    sent_at = serializers.DateTimeField(required=False, help_text="The browser's clock when it was sent.")


class RefusalSerializer(serializers.Serializer[Any]):
    """A row that was not stored; the others were."""

    trial = serializers.CharField(allow_blank=True)
    code = serializers.ChoiceField(["bad_row", "unknown_trial", "bad_response"])
    message = serializers.CharField()


class ReceiptSerializer(serializers.Serializer[Any]):
    """Answers that are stored."""

    acknowledged = serializers.ListField(
        child=serializers.CharField(), help_text="Trials whose answer is stored."
    )
    kept_first = serializers.ListField(
        child=serializers.CharField(),
        help_text="Of these, trials that already had another answer, which is kept.",
    )
    refused = RefusalSerializer(many=True)
    feedback = serializers.DictField(
        help_text="Practice trials only: is_correct, text and its paragraphs in nodes, by trial."
    )
    position = serializers.IntegerField(help_text="Every trial up to this position has its answer.")
    complete = serializers.BooleanField()
    next = serializers.CharField(help_text="Address of the session's page.")
    page = serializers.CharField(
        required=False, help_text="With the last answer, where a code ends the study: that page as HTML."
    )


FAILURES = dict.fromkeys((404, 405, 409, 503), ErrorSerializer)


class SessionPlan(APIView):
    """The plan of a session: every trial that is shown, once.

    The holder of the token is the participant. The plan names no condition and no expected answer.
    """

    @extend_schema(
        summary="The plan of a session",
        operation_id="session_plan",
        parameters=[TOKEN],
        responses={200: TrialPlanSerializer, **FAILURES},
        auth=[],
    )
    def get(self, request: object, token: str) -> None:
        """Documented here, answered by a plain view."""


class SessionJudgments(APIView):
    """Store answers: one or many, in any order, any number of times.

    Each is stored once and acknowledged after commit; the first answer to a trial is kept. A row that cannot
    be stored is refused with a code while the others are kept.
    """

    @extend_schema(
        summary="Store answers of a session",
        operation_id="session_judgments",
        parameters=[TOKEN],
        request=DeliverySerializer,
        responses={200: ReceiptSerializer, **FAILURES, 400: ErrorSerializer, 413: ErrorSerializer},
        auth=[],
    )
    def post(self, request: object, token: str) -> None:
        """Documented here, answered by a plain view."""


ADDRESSES = (("plan", "GET", SessionPlan), ("judgments", "POST", SessionJudgments))


def add_session_addresses(endpoints: list[Endpoint], **_: object) -> list[Endpoint]:
    """Preprocessing hook of drf-spectacular, which lists only DRF views: document our plain Django views."""
    prefix = "/api/v1/sessions/{token}"
    return [
        *endpoints,
        *(
            (f"{prefix}/{name}/", f"{prefix}/{name}/", method, documented.as_view())
            for name, method, documented in ADDRESSES
        ),
    ]
