"""Paradigms over REST: those of the platform, own ones with their versions, the linter, and drawn pairs."""

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Case, QuerySet, Value, When
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import BadInput, StillComputing
from config.api_bases import ColumnListMixin, StrictModelSerializer, StrictSerializer, StrictView
from config.api_schema import ErrorSerializer
from experiments.api.authentication import count_request
from experiments.api.serializers import ObjectField, PlainText
from experiments.generation.paradigms import read_source, sample_pairs
from experiments.generation.stored.library import (
    CHECK_SECONDS,
    MAX_CHARACTERS,
    MAX_SEED,
    BuiltIn,
    built_in,
    built_in_paradigm,
    check,
    delete_paradigm,
    languages_with_paradigms,
    may_change,
    read_language,
    save_paradigm,
    select_paradigms,
)
from experiments.generation.stored.pair_sets import MAX_EACH, MAX_IMMEDIATE, create_pair_set, delete_pair_set
from experiments.generation.stored.word_lists import lexicon_for
from experiments.models import GeneratedPair, Job, OwnParadigm, PairSet

MOST_CHOSEN = 200
MAX_LINTED = 1000  # pairs that a request of the linter draws


class ParadigmSerializer(StrictSerializer):
    """A paradigm of the platform."""

    address = serializers.CharField(help_text="What names it where pairs are drawn, such as `en:wh_island`.")
    uid = serializers.CharField()
    language = serializers.CharField()
    phenomenon = serializers.CharField()
    field = serializers.CharField()
    definition = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF allows a field of this name
    n_frames = serializers.IntegerField()
    figures = ObjectField(
        help_text="Possible pairs and accuracies of surface cues on 1,000 pairs; may be empty."
    )


class ParadigmTextSerializer(ParadigmSerializer):
    """A paradigm of the platform with its file."""

    text = serializers.CharField(help_text="TOML.")


def describe_paradigm(row: BuiltIn) -> dict[str, Any]:
    """Return a paradigm of the platform as plain data."""
    paradigm = row.paradigm
    names = ("uid", "phenomenon", "field", "definition", "n_frames")
    return {
        "address": row.address,
        "language": paradigm.language.tag,
        "source": row.source,
        "figures": row.figures,
        **{name: getattr(paradigm, name) for name in names},
    }


class ParadigmChoices(StrictSerializer):
    """Selection of the platform's paradigms."""

    language = serializers.ChoiceField(choices=languages_with_paradigms(), required=False, default="en")
    phenomenon = PlainText(required=False, max_length=100, help_text="Name of a phenomenon.")


@extend_schema_view(get=extend_schema(operation_id="paradigms_list", summary="Paradigms of the platform"))
class ParadigmsView(StrictView, generics.ListAPIView[Any]):
    """Paradigms of the platform, by phenomenon and name."""

    queryset = OwnParadigm.objects.none()
    serializer_class = ParadigmSerializer
    query_class = ParadigmChoices

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page."""
        query = self.validated_query()
        paradigms = [describe_paradigm(row) for row in built_in(query["language"])]
        if "phenomenon" in query:
            paradigms = [row for row in paradigms if row["phenomenon"] == query["phenomenon"]]
        rows = self.paginate_queryset(paradigms)
        return self.get_paginated_response(ParadigmSerializer(rows, many=True).data)


class ParadigmView(StrictView):
    """One paradigm of the platform."""

    @extend_schema(
        operation_id="paradigms_retrieve",
        summary="One paradigm of the platform, with its file",
        responses=ParadigmTextSerializer,
    )
    def get(self, request: Request, language: str, uid: str) -> Response:
        """The paradigm with its text."""
        row = built_in_paradigm(language, uid)
        if row is None:
            raise Http404
        return Response({**describe_paradigm(row), "text": read_source(uid, language=language).decode()})


class LintRequest(StrictSerializer):
    """A text to check."""

    text = PlainText(max_length=MAX_CHARACTERS, trim_whitespace=False, help_text="TOML.")
    n = serializers.IntegerField(
        required=False, default=200, min_value=1, max_value=MAX_LINTED, help_text="Pairs to draw."
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_SEED)


class FindingSerializer(StrictSerializer):
    """One problem."""

    code = serializers.CharField(help_text="L01 to L20.")
    level = serializers.ChoiceField(["error", "warning"])
    place = serializers.CharField(help_text="File and table.")
    line = serializers.IntegerField(help_text="Line of the text; 0 where no line is to blame.")
    message = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)


class LintSerializer(StrictSerializer):
    """Findings of the linter, as `lint_paradigm --json` prints it."""

    file = serializers.CharField()
    clean = serializers.BooleanField()
    capacity = serializers.IntegerField(help_text="Possible pairs, estimated.")
    frames = serializers.IntegerField()
    findings = FindingSerializer(many=True)
    examples = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    cues = ObjectField(allow_null=True)


class LintView(StrictView):
    """The linter."""

    @extend_schema(
        operation_id="paradigms_lint",
        summary="Check the text of a paradigm",
        request=LintRequest,
        responses={200: LintSerializer, 422: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Findings with line and remedy, and examples; nothing is stored."""
        user = cast("User", request.user)
        count_request("paradigm-check", str(user.pk), limit=settings.PARADIGM_CHECKS_PER_MINUTE)
        form = LintRequest(data=request.data)
        form.is_valid(raise_exception=True)
        data = form.validated_data
        lexicon = lexicon_for(user, read_language(data["text"]))
        return Response(check(data["text"], lexicon=lexicon, n=data["n"], seed=data["seed"]).document())


class OwnParadigmSerializer(StrictModelSerializer[OwnParadigm]):
    """A paradigm of yours, or one that a lab or study shares with you."""

    address = serializers.SerializerMethodField(help_text="What names it where pairs are drawn: `own:17`.")
    version = serializers.IntegerField(source="newest.number", read_only=True)
    n_errors = serializers.IntegerField(source="newest.n_errors", read_only=True)
    text = PlainText(source="newest.text", trim_whitespace=False, max_length=MAX_CHARACTERS)
    based_on = serializers.IntegerField(
        write_only=True, required=False, min_value=1, max_value=10**6, help_text="Version that was changed."
    )
    # Methods: DRF leaves out a field with a default from the answer to a PATCH.
    lab = serializers.SerializerMethodField(help_text="Whose members see it.")
    study = serializers.SerializerMethodField(help_text="Whose team sees it.")

    class Meta:
        model = OwnParadigm
        fields = [
            *("id", "address", "uid", "language", "phenomenon", "version", "n_errors"),
            *("lab", "study", "text", "based_on"),
        ]
        read_only_fields = ["id", "uid", "language", "phenomenon"]

    def get_address(self, row: OwnParadigm) -> str:
        """Its key in a selection."""
        return f"own:{row.pk}"

    def get_lab(self, row: OwnParadigm) -> str | None:
        """The lab that shares it."""
        return row.lab.slug if row.lab else None

    def get_study(self, row: OwnParadigm) -> str | None:
        """The study whose team shares it."""
        return row.study.slug if row.study else None


class OwnParadigmFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the own paradigms."""

    search = filters.CharFilter(field_name="uid", lookup_expr="icontains", help_text="Part of the name.")
    language = filters.CharFilter(help_text="Language tag.")
    phenomenon = filters.CharFilter(help_text="Name of a phenomenon.")


@extend_schema_view(
    get=extend_schema(summary="Your paradigms, and those shared with you"),
    post=extend_schema(summary="Save a text as a new paradigm of yours"),
)
class OwnParadigmsView(StrictView, generics.ListCreateAPIView[OwnParadigm]):
    """Own paradigms."""

    queryset = OwnParadigm.objects.none()
    serializer_class = OwnParadigmSerializer
    filterset_class = OwnParadigmFilter

    def get_queryset(self) -> QuerySet[OwnParadigm]:
        """Paradigms of the caller."""
        rows = OwnParadigm.objects.visible_to(self.request.user).select_related("lab", "study")
        return rows.with_newest()

    def perform_create(self, serializer: serializers.BaseSerializer[OwnParadigm]) -> None:
        """The first version."""
        user = cast("User", self.request.user)
        count_request("paradigm-check", str(user.pk), limit=settings.PARADIGM_CHECKS_PER_MINUTE)
        version = save_paradigm(user, serializer.validated_data["newest"]["text"])
        serializer.instance = version.paradigm


@extend_schema_view(
    get=extend_schema(summary="One own paradigm"),
    patch=extend_schema(summary="Save a text as its next version"),
    delete=extend_schema(summary="Delete it with its versions"),
)
class OwnParadigmView(StrictView, generics.RetrieveUpdateDestroyAPIView[OwnParadigm]):
    """One own paradigm; its text changes by further versions."""

    queryset = OwnParadigm.objects.none()
    serializer_class = OwnParadigmSerializer
    http_method_names = ["get", "patch", "delete", "head", "options"]

    def get_queryset(self) -> QuerySet[OwnParadigm]:
        """Paradigms of the caller."""
        return OwnParadigm.objects.visible_to(self.request.user).select_related("lab", "study")

    def perform_update(self, serializer: serializers.BaseSerializer[OwnParadigm]) -> None:
        """The next version, by editors only."""
        user, row = cast("User", self.request.user), self.get_object()
        if not may_change(user, row):
            raise PermissionDenied("Viewers do not change a paradigm.")
        data = serializer.validated_data
        if "newest" in data:
            count_request("paradigm-check", str(user.pk), limit=settings.PARADIGM_CHECKS_PER_MINUTE)
            version = save_paradigm(user, data["newest"]["text"], paradigm=row, based_on=data.get("based_on"))
            serializer.instance = version.paradigm

    def perform_destroy(self, instance: OwnParadigm) -> None:
        """By its owner only."""
        delete_paradigm(instance, cast("User", self.request.user))


class GenerateRequest(StrictSerializer):
    """Selection of paradigms and number of pairs to draw."""

    paradigms = serializers.ListField(
        child=PlainText(max_length=100),
        min_length=1,
        max_length=MOST_CHOSEN,
        help_text="Addresses, such as `en:wh_island` and `own:17`.",
    )
    n = serializers.IntegerField(min_value=1, max_value=MAX_EACH, help_text="Pairs of each paradigm.")
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_SEED)


class GeneratedSerializer(StrictSerializer):
    """Drawn pairs, with BLiMP's fields."""

    seed = serializers.IntegerField()
    pairs = serializers.ListField(child=ObjectField())


class GenerateView(StrictView):
    """Pairs without storing them."""

    @extend_schema(
        operation_id="paradigms_generate",
        summary=f"Draw up to {MAX_IMMEDIATE:,} pairs; nothing is stored",
        request=GenerateRequest,
        responses={200: GeneratedSerializer, 422: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """The pairs of `manage.py generate` with the same seed."""
        user = cast("User", request.user)
        count_request("paradigm-check", str(user.pk), limit=settings.PARADIGM_CHECKS_PER_MINUTE)
        form = GenerateRequest(data=request.data)
        form.is_valid(raise_exception=True)
        data = form.validated_data
        choices = select_paradigms(user, data["paradigms"])
        if data["n"] * len(choices) > MAX_IMMEDIATE:
            raise BadInput(
                f"{data['n'] * len(choices):,} pairs in all.",
                remedy=f"At most {MAX_IMMEDIATE:,} here; more are drawn by a job: POST to pair-sets/.",
            )
        rows = [
            row
            for choice in choices
            for row in sample_pairs(
                choice.paradigm, data["n"], seed=data["seed"], lexicon=choice.lexicon, seconds=CHECK_SECONDS
            )
        ]
        return Response({"seed": data["seed"], "pairs": rows})


class PairSetSerializer(StrictModelSerializer[PairSet]):
    """A set of drawn pairs."""

    paradigms = serializers.ListField(
        child=PlainText(max_length=100), min_length=1, max_length=MOST_CHOSEN, write_only=True
    )
    n = serializers.IntegerField(source="n_each", min_value=1, max_value=MAX_EACH)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_SEED)
    name = PlainText(max_length=150)
    recipe = serializers.ListField(child=ObjectField(), read_only=True)
    materials = serializers.CharField(source="materials.slug", read_only=True, default=None, allow_null=True)
    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    state = serializers.SerializerMethodField(help_text="Pairs are there when it is ready.")

    class Meta:
        model = PairSet
        fields = [
            "id",
            "state",
            "name",
            "paradigms",
            "n",
            "seed",
            "language",
            "recipe",
            "drawn_at",
            "job",
            "materials",
        ]
        read_only_fields = ["id", "language", "drawn_at"]

    @extend_schema_field(serializers.ChoiceField(["drawing", "ready", "failed"]))
    def get_state(self, row: PairSet) -> str:
        """The state of the draw."""
        if row.drawn_at is not None:
            return "ready"
        return "failed" if row.job and row.job.state == Job.State.FAILED else "drawing"


class PairSetFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the sets of drawn pairs."""

    search = filters.CharFilter(field_name="name", lookup_expr="icontains", help_text="Part of the name.")
    language = filters.CharFilter(help_text="Language tag.")


class DrawnPairFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the pairs of a set."""

    paradigm = filters.CharFilter(help_text="Name of a paradigm.")
    is_struck = filters.BooleanFilter(help_text="Whether the pair was struck.")


@extend_schema_view(
    get=extend_schema(summary="Your sets of drawn pairs, newest first"),
    post=extend_schema(
        summary="Draw a set; a large one is drawn by a job (`drawn_at` is null until it is done)"
    ),
)
class PairSetsView(ColumnListMixin, StrictView, generics.ListCreateAPIView[PairSet]):
    """Sets of drawn pairs."""

    columns = {
        "id": "id",
        "state": Case(
            When(drawn_at__isnull=False, then=Value("ready")),
            When(job__state=Job.State.FAILED, then=Value("failed")),
            default=Value("drawing"),
        ),
        "name": "name",
        "n": "n_each",
        **{name: name for name in ("seed", "language", "recipe", "drawn_at")},
        "job": "job_id",
        "materials": "materials__slug",
    }
    queryset = PairSet.objects.none()
    serializer_class = PairSetSerializer
    filterset_class = PairSetFilter

    def get_queryset(self) -> QuerySet[PairSet]:
        """Sets of the caller."""
        return PairSet.objects.visible_to(self.request.user)

    def perform_create(self, serializer: serializers.BaseSerializer[PairSet]) -> None:
        """Draw, or queue the draw."""
        user, data = cast("User", self.request.user), serializer.validated_data
        count_request("paradigm-check", str(user.pk), limit=settings.PARADIGM_CHECKS_PER_MINUTE)
        serializer.instance = create_pair_set(
            user, name=data["name"], addresses=data["paradigms"], n=data["n_each"], seed=data["seed"]
        )


@extend_schema_view(
    get=extend_schema(summary="One set of drawn pairs"), delete=extend_schema(summary="Delete a set")
)
class PairSetView(StrictView, generics.RetrieveDestroyAPIView[PairSet]):
    """One set."""

    queryset = PairSet.objects.none()
    serializer_class = PairSetSerializer

    def get_queryset(self) -> QuerySet[PairSet]:
        """Sets of the caller."""
        return PairSet.objects.visible_to(self.request.user).select_related("materials", "job")

    def perform_destroy(self, instance: PairSet) -> None:
        """By its owner only."""
        delete_pair_set(instance, cast("User", self.request.user))


class DrawnPairSerializer(StrictModelSerializer[GeneratedPair]):
    """A pair as it reads now, with the row as it was drawn."""

    fields_drawn = ObjectField(source="fields", read_only=True, help_text="The row as it was drawn.")

    class Meta:
        model = GeneratedPair
        fields = ["id", "key", "paradigm", "good", "bad", "is_struck", "fields_drawn"]
        read_only_fields = fields


@extend_schema_view(get=extend_schema(summary="Pairs of a set, as they read now"))
class DrawnPairsView(ColumnListMixin, StrictView, generics.ListAPIView[GeneratedPair]):
    """Pairs of one set, in the order of their draw."""

    may_be_early = True
    columns = {
        **{name: name for name in ("id", "key", "paradigm", "good", "bad", "is_struck")},
        "fields_drawn": "fields",
    }
    queryset = GeneratedPair.objects.none()
    serializer_class = DrawnPairSerializer
    filterset_class = DrawnPairFilter

    def get_queryset(self) -> QuerySet[GeneratedPair]:
        """Pairs of the set, or 404 for strangers."""
        rows = PairSet.objects.visible_to(self.request.user).filter(pk=self.kwargs.get("pk"))
        if (row := rows.first()) is None:
            raise Http404
        if row.drawn_at is None:
            raise StillComputing("the pairs are being drawn.", remedy="Ask again.")
        return row.pairs.order_by("pk")
