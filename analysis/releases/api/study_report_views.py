"""Reports of a study over REST: ask for one, look how far it is, take its files."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.releases.api.fields import AnyObject
from analysis.releases.api.report_serializers import AgreementChoices
from analysis.releases.api.views import OfStudy
from analysis.releases.options import Options
from analysis.releases.reporting import STUDY_REPORT, StoredReport, find_report, reports_of, request_report
from analysis.releases.views.study_reports import file_answer
from config.api_schema import ErrorSerializer
from experiments.models import Job
from experiments.pages.access import get_study
from judgments.api.views import AnyAccept


class ReportFileSerializer(serializers.Serializer):
    """One file of a report."""

    path = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    holds = serializers.CharField()


class StudyReportSerializer(serializers.Serializer):
    """A report and where its making stands."""

    number = serializers.IntegerField(help_text="In addresses; also the number of its job.")
    state = serializers.CharField(source="job.state")
    error = serializers.CharField(source="job.error", allow_blank=True)
    options = AnyObject(help_text="What it was asked for.")
    headline = AnyObject(help_text="Counts and agreement; empty until it is ready.")
    files = ReportFileSerializer(many=True)
    created_at = serializers.DateTimeField(source="job.created_at")


class StudyReportViews(OfStudy):
    """Reports of a study."""

    queryset = Job.objects.none()
    serializer_class = StudyReportSerializer
    pagination_class = None

    @extend_schema(summary="Reports of a study, newest first", responses=StudyReportSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """All of them."""
        return Response(StudyReportSerializer(reports_of(self.study()), many=True).data)

    @extend_schema(
        summary="Make a report",
        request=AgreementChoices,
        responses={202: StudyReportSerializer, 400: ErrorSerializer, 422: ErrorSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue the job; the same data and choices give the report that stands."""
        study = self.study()
        data: dict[str, Any] = dict(self.given(AgreementChoices))
        asked = request_report(study, Options(**data), user=request.user)
        return Response(StudyReportSerializer(asked).data, status=status.HTTP_202_ACCEPTED)


class StudyReportView(APIView):
    """One report."""

    @extend_schema(summary="One report", responses=StudyReportSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Its state, and its files when it is ready."""
        return Response(StudyReportSerializer(_found(request, slug, number)).data)


class StudyReportFileView(APIView):
    """One file of a report."""

    content_negotiation_class = AnyAccept

    @extend_schema(summary="One file of a report", responses={(200, "*/*"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int, name: str) -> HttpResponse:
        """As a download."""
        return file_answer(get_study(request.user, slug), _found(request, slug, number), name)


def _found(request: Request, slug: str, number: int) -> StoredReport:
    study = get_study(request.user, slug)
    get_object_or_404(Job.objects.filter(experiment=study, kind=STUDY_REPORT), pk=number)
    found = find_report(study, number)
    assert found is not None
    return found
