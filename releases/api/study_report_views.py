"""API views of study reports (request one, poll its state, download its files) and of deviations."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import StillComputing
from config.api_bases import StrictSerializer, StrictView
from config.api_schema import ErrorSerializer
from experiments.api.authentication import require_scope
from experiments.api.serializers import PlainText
from experiments.api.views import StudyAPIView
from experiments.models import ApiToken, Job
from experiments.pages.access import get_study
from judgments.api.views import AnyAccept
from releases.api.fields import FILE, AnyObject
from releases.api.report_serializers import AgreementChoices, correction_field, outliers_field, sesoi_field
from releases.api.report_views import Document
from releases.api.views import with_exclusion
from releases.gold.deviations import LONGEST_REASON
from releases.gold.frozen_plan import choose_preregistered_version
from releases.gold.options import ReportOptions
from releases.study_report.build import PACKAGE
from releases.study_report.request import (
    STUDY_REPORT,
    StoredReport,
    find_report,
    list_reports,
    request_report,
)
from releases.views.deviations import current_deviations, store_reason
from releases.views.study_reports import file_answer


class StudyReportChoices(AgreementChoices):
    """Parameters of a report: its release, and the choices of its analyses."""

    # Reports take the defaults; None removes the inherited fields.
    interval = None  # type: ignore[assignment]
    cross_fit = None  # type: ignore[assignment]
    correction = correction_field()
    sesoi = sesoi_field()
    outliers = outliers_field()
    multiverse = serializers.BooleanField(
        required=False, default=False, help_text="Every specification of the effect, in the appendix."
    )


class ReportFileSerializer(StrictSerializer):
    """One file of a report."""

    path = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    holds = serializers.CharField()


class StudyReportSerializer(StrictSerializer):
    """A report and its state."""

    number = serializers.IntegerField(help_text="In URLs; also the number of its job.")
    state = serializers.CharField(source="job.state")
    error = serializers.CharField(source="job.error", allow_blank=True)
    options = AnyObject(help_text="Options of the request.")
    headline = AnyObject(help_text="Counts and agreement; empty until it is ready.")
    files = ReportFileSerializer(many=True)
    created_at = serializers.DateTimeField(source="job.created_at")


class StudyReportViews(StudyAPIView):
    """Reports of a study."""

    queryset = Job.objects.none()
    serializer_class = StudyReportSerializer
    pagination_class = None

    @extend_schema(summary="Reports of a study, newest first", responses=StudyReportSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """All of them."""
        return Response(StudyReportSerializer(list_reports(self.study()), many=True).data)

    @extend_schema(
        summary="Make a report",
        request=StudyReportChoices,
        responses={202: StudyReportSerializer, 400: ErrorSerializer, 422: ErrorSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue the job; identical data and choices return the existing report."""
        study = self.study()
        data: dict[str, Any] = with_exclusion(study, dict(self.validated_body(StudyReportChoices)))
        report = request_report(study, ReportOptions(**data), user=request.user)
        return Response(StudyReportSerializer(report).data, status=status.HTTP_202_ACCEPTED)


class StudyReportView(StrictView):
    """One report."""

    @extend_schema(summary="One report", responses=StudyReportSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Its state, and its files when it is ready."""
        return Response(StudyReportSerializer(_get_report(request, slug, number)).data)


class StudyReportFileView(StrictView):
    """One file of a report."""

    may_be_early = True
    content_negotiation_class = AnyAccept

    @extend_schema(summary="One file of a report", responses=FILE)
    def get(self, request: Request, slug: str, number: int, name: str) -> HttpResponse:
        """As a download; a package with rows of single participants needs the scope ``people``."""
        if name == PACKAGE:
            require_scope(request, ApiToken.Scope.PEOPLE)
        report = _get_report(request, slug, number)
        if report.job.state not in Job.State.final():
            raise StillComputing(f"report {number} is being made.", remedy="Ask again when it is ready.")
        return file_answer(get_study(request.user, slug), report, name)


class ReasonRequest(StrictSerializer):
    """The reason of a row."""

    key = PlainText(max_length=200, help_text="Key of the row.")
    text = PlainText(max_length=LONGEST_REASON, allow_blank=True, help_text="Empty: the reason is withdrawn.")


class DeviationsView(StudyAPIView):
    """Deviations from the preregistered version."""

    serializer_class = Document
    pagination_class = None

    @extend_schema(summary="Deviations from the preregistered version", responses=Document)
    def get(self, request: Request, slug: str) -> Response:
        """The list with its reasons, under the study's current exclusion plan."""
        return Response(current_deviations(self.study()))

    @extend_schema(
        summary="Write the reason of a deviation",
        request=ReasonRequest,
        responses={200: Document, 400: ErrorSerializer, 422: ErrorSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """A version of the reason; earlier ones are kept. Answers with the list."""
        study = self.study()
        store_reason(study, **self.validated_body(ReasonRequest), user=self.user)
        return Response(current_deviations(study))


class VersionRequest(StrictSerializer):
    """The preregistered version."""

    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, help_text="Number of a version.")


class PreregisteredVersionView(StudyAPIView):
    """The version with which deviations are compared."""

    serializer_class = Document

    @extend_schema(
        summary="Choose the preregistered version", request=VersionRequest, responses={200: Document}
    )
    @transaction.atomic
    def put(self, request: Request, slug: str) -> Response:
        """The deviations from it."""
        study, number = self.study(), self.validated_body(VersionRequest)["version"]
        choose_preregistered_version(study, number, user=self.user)
        return Response(current_deviations(study))


def _get_report(request: Request, slug: str, number: int) -> StoredReport:
    study = get_study(request.user, slug)
    get_object_or_404(Job.objects.filter(experiment=study, kind=STUDY_REPORT), pk=number)
    report = find_report(study, number)
    assert report is not None
    return report
