"""API views of scoring runs by this installation: start, progress, retry."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from experiments.pages.access import get_study
from releases.api.run_serializers import ModelRunsRequest, RunDetailSerializer
from releases.api.serializers import RunSerializer
from releases.api.views import StudyAPIView
from releases.models import ScoringRun
from releases.scoring.runs import request_model_runs, retry_run
from releases.views.models.comparisons import runs_of
from releases.views.releases import find


class RunView(APIView):
    """One scoring run."""

    @extend_schema(summary="One scoring run with its progress", responses=RunDetailSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The run, its shards counted now."""
        run = get_object_or_404(runs_of(get_study(request.user, slug)), pk=pk)
        return Response(RunDetailSerializer(run).data)


class ModelRunViews(StudyAPIView):
    """Runs of models of this installation or of the hub."""

    queryset = ScoringRun.objects.none()
    serializer_class = RunSerializer
    pagination_class = None

    @extend_schema(
        summary="Score the study's sentences with models of this installation or of the hub",
        request=ModelRunsRequest,
        responses={202: RunSerializer(many=True)},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue a run for each model and measure; all measures of a model come from one scoring."""
        study = self.study()
        data = self.validated_body(ModelRunsRequest)
        number = data.get("release")
        runs = request_model_runs(
            study,
            data["models"],
            methods=data.get("methods", ["lp"]),
            release=find(study, number, ready=True) if number else None,
            device=data.get("device", ""),
            user=self.user,
        )
        return Response(RunSerializer(runs, many=True).data, status=status.HTTP_202_ACCEPTED)


class RunRetryView(StudyAPIView):
    """Failed shards of a run."""

    queryset = ScoringRun.objects.none()
    serializer_class = RunDetailSerializer

    @extend_schema(summary="Try a run's failed shards again", request=None, responses=RunDetailSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """What is scored stays; a run without failures is left as it is."""
        study = self.study()
        run = get_object_or_404(runs_of(study), pk=pk)
        return Response(RunDetailSerializer(retry_run(run, experiment=study, user=self.user)).data)
