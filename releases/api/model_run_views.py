"""API views and serializers of scoring runs by this installation: start, progress, retry."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.comparison.in_depth.models import METHODS
from config.api_bases import StrictModelSerializer, StrictSerializer
from experiments.api.serializers import BIGGEST, PlainText
from experiments.api.views import StudyAPIView
from experiments.pages.access import get_study
from releases.api.fields import AnyObject
from releases.api.serializers import RunSerializer
from releases.api.views import find_ready
from releases.models import ScoreShard, ScoringRun
from releases.scoring.execution import run_progress
from releases.scoring.runs import delete_file, request_model_runs, retry_run
from releases.scoring.shards import run_shards
from releases.scoring.surprisals import list_tables, request_surprisals
from releases.views.models.comparisons import list_runs

SHOWN_FAILURES = 100


class RunProgressSerializer(StrictSerializer):
    """Progress of a run of a model scored here; zeros for tables of scores, which have no shards."""

    sentences = serializers.IntegerField(help_text="Distinct ones.")
    cached = serializers.IntegerField(help_text="Known before the run began.")
    done = serializers.IntegerField()
    percent = serializers.IntegerField()
    shards = serializers.IntegerField()
    shards_done = serializers.IntegerField()
    shards_running = serializers.IntegerField()
    shards_failed = serializers.IntegerField()
    sentences_per_s = serializers.FloatField(allow_null=True, help_text="Of one process.")
    seconds_left = serializers.IntegerField(allow_null=True)


class FailedShardSerializer(StrictModelSerializer[ScoreShard]):
    """A shard that failed three times, with the reason."""

    class Meta:
        model = ScoreShard
        fields = ["number", "n_sentences", "attempts", "error"]
        read_only_fields = fields


class RunDetailSerializer(RunSerializer):
    """A run with its progress."""

    progress = serializers.SerializerMethodField()
    failed_shards = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "progress", "failed_shards"]
        read_only_fields = fields

    @extend_schema_field(RunProgressSerializer)
    def get_progress(self, run: ScoringRun) -> dict[str, Any]:
        """Counted now."""
        return RunProgressSerializer(run_progress(run)).data

    @extend_schema_field(FailedShardSerializer(many=True))
    def get_failed_shards(self, run: ScoringRun) -> Any:
        """The first hundred."""
        failed = run_shards(run).filter(state=ScoreShard.State.FAILED)[:SHOWN_FAILURES]
        return FailedShardSerializer(failed, many=True).data


class ModelRunsRequest(StrictSerializer):
    """Models of this installation or of the hub, and the measures."""

    models = serializers.ListField(
        child=PlainText(max_length=400),
        min_length=1,
        max_length=50,
        help_text="Such as hf-causal:NAME@step1000,step2000 (two runs) or "
        "hf-causal:gpt2@COMMIT?boundary=corrected&vocabulary=tokenizer, or arpa:./FILE of "
        "the installation's folder of models; every option of the command but device, trust and adapter.",
    )
    methods = serializers.ListField(
        child=serializers.ChoiceField(choices=list(METHODS)), required=False, min_length=1, max_length=20
    )
    release = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=BIGGEST, help_text="Null: all materials."
    )
    device = serializers.ChoiceField(choices=["cpu", "gpu"], required=False)


@extend_schema_view(
    get=extend_schema(
        summary="One scoring run with its progress", description="The run, its shards counted now."
    )
)
class RunView(StudyAPIView, generics.RetrieveAPIView[ScoringRun]):
    """One scoring run."""

    queryset = ScoringRun.objects.none()
    serializer_class = RunDetailSerializer

    def get_queryset(self) -> QuerySet[ScoringRun]:
        """Runs over the study's sentences."""
        return list_runs(self.study())


class ModelRunViews(StudyAPIView):
    """Runs of models of this installation or of the hub."""

    may_be_early = True
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
            release=find_ready(study, number) if number else None,
            device=data.get("device", ""),
            user=self.user,
        )
        return Response(RunSerializer(runs, many=True).data, status=status.HTTP_202_ACCEPTED)


class RunRetryView(StudyAPIView):
    """Failed shards of a run."""

    takes_no_body = True
    queryset = ScoringRun.objects.none()
    serializer_class = RunDetailSerializer

    @extend_schema(summary="Try a run's failed shards again", request=None, responses=RunDetailSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Retry failed shards; scores are kept, and a run without failures is unchanged."""
        study = self.study()
        run = get_object_or_404(list_runs(study), pk=pk)
        return Response(RunDetailSerializer(retry_run(run, experiment=study, user=self.user)).data)


class RunFileView(StudyAPIView):
    """The uploaded file of a run."""

    queryset = ScoringRun.objects.none()
    serializer_class = RunSerializer

    @extend_schema(summary="Delete the uploaded file of a run", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Scores stay; scoring the run again needs another upload."""
        study = self.study()
        run = get_object_or_404(list_runs(study), pk=pk)
        delete_file(run, experiment=study, user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SurprisalsSerializer(StrictSerializer):
    """A table of surprisals of tokens and words."""

    number = serializers.IntegerField(help_text="That of its job.")
    state = serializers.CharField(source="job.state")
    error = serializers.CharField(source="job.error", allow_blank=True)
    files = serializers.ListField(child=AnyObject(), help_text="Path and size; on the page of the run.")


class SurprisalViews(StudyAPIView):
    """Tables of surprisals of a run."""

    may_be_early = True
    queryset = ScoringRun.objects.none()
    serializer_class = SurprisalsSerializer
    pagination_class = None
    takes_no_body = True

    @extend_schema(
        summary="Surprisals of tokens and words of a run", responses=SurprisalsSerializer(many=True)
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """All tables."""
        run = get_object_or_404(list_runs(get_study(request.user, slug)), pk=pk)
        return Response(SurprisalsSerializer(list_tables(run), many=True).data)

    @extend_schema(
        summary="Compute surprisals of the regions of the study's sentences",
        request=None,
        responses={202: SurprisalsSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The same run has one table; a file of other regions is sent on the page."""
        study = self.study()
        run = get_object_or_404(list_runs(study), pk=pk)
        table = request_surprisals(run, study, file=None, user=self.user)
        return Response(SurprisalsSerializer(table).data, status=status.HTTP_202_ACCEPTED)
