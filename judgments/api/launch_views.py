"""Launch of a study over REST: checklist, waivers, preview, dry run, and its states."""

import secrets
from collections.abc import Callable
from typing import Any, ClassVar

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import StrictSerializer
from config.api_schema import ErrorSerializer
from experiments.api.serializers import JobSerializer, PlainText, StudySerializer
from experiments.api.views import StudyAPIView
from experiments.models import Experiment
from experiments.studies.lifecycle import close, freeze_preview, pause, start_pilot, start_round
from experiments.studies.readiness import ChecksUndone, is_green, may_open, open_checked, steps
from experiments.studies.rehearsals import LONGEST_REASON, ask_again, waive
from judgments.screens.arrival_views import consent_text
from judgments.sessions.enrollment import begin_preview
from judgments.sessions.protocol import load_protocol
from judgments.simulation.dry_run import MAX_CHOSEN, dry_run_later


class CheckSerializer(StrictSerializer):
    """One line of the checklist."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF allows a field of this name
    is_done = serializers.BooleanField()
    is_blocking = serializers.BooleanField(help_text="Whether it has to be done.")
    has_own_reason = serializers.BooleanField(help_text="Whether it is waived alone, not with others.")
    reason = serializers.CharField(help_text="What is missing, or what was found.")
    waived = serializers.CharField(help_text="Reason of the waiver; empty without one.")


class ChecklistSerializer(StrictSerializer):
    """What is missing before a study opens."""

    status = serializers.CharField()
    may_open = serializers.BooleanField(help_text="Whether nothing blocks.")
    is_green = serializers.BooleanField(help_text="Whether every check is done or waived.")
    checks = CheckSerializer(many=True)


class WaiverRequest(StrictSerializer):
    """The reason of a waiver."""

    reason = PlainText(max_length=LONGEST_REASON)


class OpenRequest(StrictSerializer):
    """Waives what is undone."""

    reason = PlainText(
        max_length=LONGEST_REASON,
        required=False,
        default="",
        allow_blank=True,
        help_text="Waives the undone checks that need no reason of their own.",
    )


class PreviewSession(StrictSerializer):
    """A test session."""

    address = serializers.CharField(help_text="Of its first page, for a browser.")
    token = serializers.CharField(help_text="Of its addresses under `sessions/`.")


class Undone(APIException):
    """The study has undone checks and is not opened."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "checks_undone"


class LaunchAPIView(StudyAPIView):
    """Base of the views; imported studies have no launch."""

    queryset = Experiment.objects.none()
    serializer_class: Any = StudySerializer

    def study(self) -> Experiment:
        """The study, 404 where its judgments were imported."""
        study = super().study()
        if study.origin != Experiment.Origin.COLLECTED:
            raise Http404
        return study

    def checklist(self, study: Experiment) -> Response:
        """Respond with the checklist."""
        checks = steps(study)
        document = {
            "status": study.status,
            "may_open": may_open(checks),
            "is_green": is_green(checks),
            "checks": checks,
        }
        return Response(ChecklistSerializer(document).data)


class ChecklistView(LaunchAPIView):
    """The checklist."""

    serializer_class = ChecklistSerializer

    @extend_schema(summary="What is missing before a study opens", responses=ChecklistSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Blocking and advisory checks in the order of the work."""
        return self.checklist(self.study())


class WaiverView(LaunchAPIView):
    """The waiver of one advisory check."""

    serializer_class = ChecklistSerializer

    def advisory(self, study: Experiment, check: str) -> str:
        """The key of the check; 404 where there is none that can be waived."""
        if check not in {step.key for step in steps(study) if not step.is_blocking}:
            raise Http404
        return check

    @extend_schema(
        summary="Waive an advisory check", request=WaiverRequest, responses={200: ChecklistSerializer}
    )
    def put(self, request: Request, slug: str, check: str) -> Response:
        """The reason is kept in the history."""
        study, reason = self.study(), self.validated_body(WaiverRequest)["reason"]
        waive(study, self.advisory(study, check), reason=reason, user=self.user)
        return self.checklist(study)

    @extend_schema(summary="Withdraw the waiver of a check", responses={200: ChecklistSerializer})
    def delete(self, request: Request, slug: str, check: str) -> Response:
        """No effect without a waiver."""
        study = self.study()
        ask_again(study, self.advisory(study, check), user=self.user)
        return self.checklist(study)


class DryRunRequest(StrictSerializer):
    """Number of simulated participants."""

    participants = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=1,
        max_value=MAX_CHOSEN,
        help_text="By default one for each list, 2 to 8.",
    )


class DryRunView(LaunchAPIView):
    """Simulated participants."""

    serializer_class = JobSerializer

    @extend_schema(
        summary="Send simulated participants through a study",
        request=DryRunRequest,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """The job; one that is waiting or running is returned."""
        study, n_participants = self.study(), self.validated_body(DryRunRequest)["participants"]
        job = dry_run_later(study, user=self.user, n_participants=n_participants)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class PreviewView(LaunchAPIView):
    """A test session."""

    serializer_class = PreviewSession
    takes_no_body = True

    @extend_schema(summary="Begin a test session", request=None, responses={201: PreviewSession})
    def post(self, request: Request, slug: str) -> Response:
        """A session of the study as it is now, after consent, which is never counted."""
        study = self.study()
        version = freeze_preview(study)
        session = begin_preview(
            study, version, key=secrets.token_urlsafe(12), consent_text=consent_text(load_protocol(version))
        )
        address = request.build_absolute_uri(reverse("session", args=[session.token]))
        return Response({"address": address, "token": session.token}, status=status.HTTP_201_CREATED)


class OpenView(LaunchAPIView):
    """Opening."""

    @extend_schema(
        summary="Open a study",
        request=OpenRequest,
        responses={200: StudySerializer, 409: ErrorSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Admit participants; 422 names what blocks, 409 what is undone and not waived."""
        study, reason = self.study(), self.validated_body(OpenRequest)["reason"]
        try:
            opened = open_checked(study, reason=reason, user=self.user)
        except ChecksUndone as error:
            raise Undone(str(error)) from None
        return Response(StudySerializer(opened).data)


class StepView(LaunchAPIView):
    """Base of the other steps of a study's life."""

    takes_no_body = True
    step: ClassVar[Callable[..., Experiment]]

    def post(self, request: Request, slug: str) -> Response:
        """No effect when repeated."""
        return Response(StudySerializer(type(self).step(self.study(), self.user)).data)


@extend_schema(summary="Start a pilot, whose sessions are never counted", request=None)
class PilotStudyView(StepView):
    """Pilot."""

    step = staticmethod(start_pilot)


@extend_schema(summary="Pause a study: sessions in progress may finish", request=None)
class PauseView(StepView):
    """Pause."""

    step = staticmethod(pause)


@extend_schema(summary="Close a study for good", request=None)
class CloseView(StepView):
    """Close."""

    step = staticmethod(close)


class RoundStartView(LaunchAPIView):
    """Rounds."""

    takes_no_body = True

    @extend_schema(summary="Admit participants to a round", request=None, responses=StudySerializer)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Sessions in progress keep their lists."""
        return Response(StudySerializer(start_round(self.study(), number, self.user)).data)
