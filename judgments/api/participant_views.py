"""Participants of a study over REST: their sessions, flags, data and deletion; the deletion of a study."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.quality.report import LABELS
from config.api_bases import StrictModelSerializer, StrictSerializer
from experiments.api.serializers import JobSerializer, ObjectField, PlainText
from experiments.api.views import StudyAPIView
from experiments.models import ApiToken, Experiment
from experiments.pages.access import may_see_ids
from experiments.teams.members import only_owners
from judgments import flags
from judgments.deletion import delete_study, erase_all_later, is_untaken
from judgments.models import Flag, Participant, Payment, Session
from judgments.monitoring.session_summaries import with_sessions
from judgments.pages.participants_views import filter_participants
from judgments.privacy.person import export_person, forget
from judgments.privacy.purge import move_purge_date
from judgments.quality_check import request_check
from judgments.sessions.removal import ON_REQUEST, erase

MOST = 1000  # rows that one request changes


class IdsField(serializers.ListField):
    """Ids of rows of a study."""

    child = serializers.IntegerField(min_value=1, max_value=2**63 - 1)

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_length": 1, "max_length": MOST, **options})


class FlagSerializer(StrictModelSerializer[Flag]):
    """A flag, which exclusion plans with the step `flagged` use."""

    class Meta:
        model = Flag
        fields = ["id", "reason", "raised_at", "lifted_at"]
        read_only_fields = fields


class SignalSerializer(StrictSerializer):
    """A quality signal of a session."""

    label = serializers.CharField()  # type: ignore[assignment]  # DRF allows a field of this name
    reason = serializers.CharField()


class SessionSerializer(StrictSerializer):
    """One session in numbers."""

    id = serializers.IntegerField(source="session.pk")
    status = serializers.ChoiceField(Session.Status.choices, source="session.status")
    list = serializers.CharField(source="session.list.label", allow_null=True, default=None)
    is_test = serializers.BooleanField(source="session.is_test")
    started_at = serializers.DateTimeField(source="session.started_at", allow_null=True)
    completed_at = serializers.DateTimeField(source="session.completed_at", allow_null=True)
    minutes = serializers.FloatField(allow_null=True)
    n_answered = serializers.IntegerField()
    n_timed_out = serializers.IntegerField(help_text="Trials without an answer at the deadline.")
    n_planned = serializers.IntegerField()
    n_catch = serializers.IntegerField()
    n_catch_right = serializers.IntegerField()
    signals = SignalSerializer(many=True)
    pay = serializers.ChoiceField(Payment.STATES, help_text="The decision on pay.")


class ParticipantSerializer(StrictSerializer):
    """A participant under a pseudonym."""

    id = serializers.IntegerField(source="participant.pk")
    participant = serializers.CharField(source="participant.pseudonym", help_text="Pseudonym.")
    is_native = serializers.BooleanField(source="participant.is_native", allow_null=True)
    is_simulated = serializers.BooleanField(source="participant.is_simulated")
    created_at = serializers.DateTimeField(source="participant.created_at")
    erased_at = serializers.DateTimeField(source="participant.erased_at", allow_null=True)
    background = ObjectField(source="participant.background", help_text="Answers to the questionnaire.")
    flags = FlagSerializer(many=True)
    sessions = SessionSerializer(many=True)


class ParticipantChoices(StrictSerializer):
    """The filters of the page."""

    who = PlainText(
        required=False, max_length=100, help_text="Pseudonym, code, label, or platform id for members."
    )
    status = serializers.ChoiceField(Session.Status.choices, required=False)
    signal = serializers.ChoiceField(list(LABELS.items()), required=False)
    pay = serializers.ChoiceField(Payment.STATES, required=False)
    flagged = serializers.BooleanField(required=False, help_text="True: only those with a flag.")


@extend_schema_view(
    get=extend_schema(summary="Participants of a study, newest first", description="One page.")
)
class ParticipantViews(StudyAPIView, generics.ListAPIView[Participant]):
    """Participants under their pseudonyms."""

    further_scope = ApiToken.Scope.PEOPLE
    queryset = Participant.objects.none()
    serializer_class = ParticipantSerializer
    query_class = ParticipantChoices

    def get_queryset(self) -> QuerySet[Participant]:
        """Participants of the study that match."""
        study = self.study()
        sees_ids = may_see_ids(self.user, study)
        return filter_participants(study, self.validated_query(), sees_ids=sees_ids)

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page, in a constant number of queries."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(with_sessions(page or []), many=True).data)


class PeopleAPIView(StudyAPIView):
    """Base of the views that change what is stored of participants."""

    further_scope: Any = ApiToken.Scope.PEOPLE
    queryset = Participant.objects.none()
    serializer_class: Any = FlagSerializer

    def participant(self, study: Experiment) -> Participant:
        """The participant of the address."""
        return get_object_or_404(Participant, pk=self.kwargs["pk"], experiment=study)

    def people(self, study: Experiment, ids: list[int]) -> QuerySet[Participant]:
        """Participants of these ids; an id of another study is an error."""
        return find_rows(Participant.objects.filter(experiment=study), ids, field="participants")


def find_rows(rows: QuerySet[Any], ids: list[int], *, field: str) -> QuerySet[Any]:
    """The rows of these ids; raises ValidationError where one is missing."""
    if missing := set(ids) - set(rows.filter(pk__in=ids).values_list("pk", flat=True)):
        raise serializers.ValidationError({field: [f"The study has none of the id {min(missing)}."]})
    return rows.filter(pk__in=ids)


class FlagsRequest(StrictSerializer):
    """Participants to flag."""

    participants = IdsField()
    reason = PlainText(max_length=flags.LONGEST_REASON)


class LiftRequest(StrictSerializer):
    """Participants whose flags are lifted."""

    participants = IdsField()


class ChangedSerializer(StrictSerializer):
    """How many rows changed."""

    changed = serializers.IntegerField()


class FlagViews(PeopleAPIView):
    """Flags of several participants."""

    @extend_schema(
        summary="Flag participants",
        operation_id="studies_flags_create",
        request=FlagsRequest,
        responses=ChangedSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Plans with the step `flagged` leave them out; pay does not change. A repetition adds no flag."""
        study, data = self.study(), self.validated_body(FlagsRequest)
        people = self.people(study, data["participants"])
        return Response({"changed": flags.raise_flags(study, people, data["reason"], by=self.user)})


class FlagLiftView(PeopleAPIView):
    """The end of flags."""

    @extend_schema(
        summary="Lift every flag of participants", request=LiftRequest, responses=ChangedSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """The number of participants that had one."""
        study, data = self.study(), self.validated_body(LiftRequest)
        people = self.people(study, data["participants"])
        return Response({"changed": flags.lift_flags(study, people, by=self.user)})


class FlagView(PeopleAPIView):
    """One flag."""

    @extend_schema(summary="Lift a flag", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """The flag stays in the history; lifting it twice has one effect."""
        flag = get_object_or_404(Flag, participant__experiment=self.study(), pk=pk)
        flags.lift_flag(flag, by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class CheckView(PeopleAPIView):
    """Quality signals."""

    takes_no_body = True
    serializer_class = JobSerializer

    @extend_schema(summary="Compute the quality signals again", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """The job."""
        job = request_check(self.study(), user=self.user)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class EraseRequest(StrictSerializer):
    """Scope of the deletion."""

    forget = serializers.BooleanField(
        default=False, help_text="Delete the platform id as well: pay cannot be traced to a person then."
    )


class ErasedSerializer(StrictSerializer):
    """What was deleted."""

    judgments = serializers.IntegerField()


class EraseView(PeopleAPIView):
    """Deletion on request."""

    @extend_schema(summary="Delete a participant's answers", request=EraseRequest, responses=ErasedSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """A count of judgments stays; pay does not change."""
        participant = self.participant(self.study())
        with_id = self.validated_body(EraseRequest)["forget"]
        n = (
            forget(participant, by=self.user)
            if with_id
            else erase(participant, reason=ON_REQUEST, by=self.user)
        )
        return Response({"judgments": n})


class PersonDataView(PeopleAPIView):
    """What is stored of a participant."""

    takes_no_body = True
    keeps_answers = False
    serializer_class: Any = StrictSerializer

    @extend_schema(
        summary="Everything stored of a participant, to be handed to that person",
        request=None,
        responses={(200, "application/json"): {"type": "object", "additionalProperties": True}},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The history records it, which is why this is no GET; with the platform id, for members only."""
        study = self.study()
        if not may_see_ids(self.user, study):
            raise PermissionDenied("The data hold the platform id, which is for members of the study.")
        return Response(export_person(self.participant(study), by=self.user))


class PurgeDate(StrictSerializer):
    """The day on which platform ids are deleted."""

    day = serializers.DateField(help_text="Today or later, within ten years.")


class PurgeDateView(PeopleAPIView):
    """Deletion date of a closed study's platform ids."""

    serializer_class = PurgeDate

    @extend_schema(
        summary="Choose the day on which platform ids are deleted", request=PurgeDate, responses=PurgeDate
    )
    def put(self, request: Request, slug: str) -> Response:
        """For all ids of a closed study."""
        study, data = self.study(), self.validated_body(PurgeDate)
        move_purge_date(study, data["day"], by=self.user)
        return Response(PurgeDate(data).data)


class DeleteRequest(StrictSerializer):
    """Confirmation of a deletion."""

    confirm = serializers.CharField(max_length=100, help_text="The short name of the study.")


class DeleteView(StudyAPIView):
    """Deletion."""

    further_scope = ApiToken.Scope.PEOPLE
    queryset = Experiment.objects.none()
    serializer_class = JobSerializer

    @extend_schema(
        operation_id="studies_delete",
        summary="Delete a study without participants, or all answers of a closed one",
        request=DeleteRequest,
        responses={202: JobSerializer, 204: None},
    )
    def post(self, request: Request, slug: str) -> Response:
        """204 where the study is deleted, 202 with the job that deletes the answers; for owners."""
        study = self.study()
        only_owners(study, cast("User", request.user))
        if self.validated_body(DeleteRequest)["confirm"] != study.slug:
            raise serializers.ValidationError({"confirm": [f"Send {study.slug!r} to confirm."]})
        if is_untaken(study):
            delete_study(study, by=self.user)
            return Response(status=status.HTTP_204_NO_CONTENT)
        job = erase_all_later(study, user=self.user)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
