"""Studies, materials and jobs over REST: members only, and strangers find nothing."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, mixins, status, viewsets
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import (
    BaseSerializer,
    BooleanField,
    CharField,
    ChoiceField,
    ListField,
    Serializer,
)

from config.api_bases import ColumnListMixin, StrictModelSerializer, StrictSerializer, StrictView
from config.api_schema import ErrorSerializer
from experiments.api.authentication import require_money_for_pay
from experiments.api.serializers import (
    JobSerializer,
    MaterialSerializer,
    PairSerializer,
    SentenceSerializer,
    StudySerializer,
)
from experiments.models import (
    ApiToken,
    Experiment,
    ExperimentVersion,
    Job,
    MaterialSet,
    MinimalPair,
    Sentence,
)
from experiments.pages.access import get_study
from experiments.pages.jobs import visible_jobs
from experiments.pages.materials.sets import delete_set, may_delete
from experiments.studies.creation import copy_study, create_study
from experiments.studies.history import record_changes, study_values
from experiments.studies.study_list import StudyFilter, move_to_folder

Rows = TypeVar("Rows", MinimalPair, Sentence)


class StudyAPIView(StrictView, generics.GenericAPIView[Any]):
    """Base of the views of one study."""

    takes_no_body: ClassVar[bool] = False  # of a view whose POST reads none

    def study(self) -> Experiment:
        """The study: 404 without access, 403 for viewers who would change it."""
        editing = self.request.method not in {"GET", "HEAD", "OPTIONS"}
        study = get_study(self.request.user, self.kwargs["slug"], editing=editing)
        if self.takes_no_body:
            self.refuse_body()
        return study

    @property
    def user(self) -> User:
        """The authenticated user; the default permission rejects all others."""
        user = self.request.user
        assert isinstance(user, User)
        return user

    def validated_body(self, kind: type[Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
        """The validated body."""
        body = kind(data=self.request.data, partial=partial)
        body.is_valid(raise_exception=True)
        validated: dict[str, Any] = body.validated_data
        return validated


class NotADraft(APIException):
    """Opened studies change on their pages, where the next version is made knowingly."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "not_a_draft"
    default_detail = "The study has been opened. A change makes its next version: use its settings page."


@extend_schema_view(
    list=extend_schema(summary="Your studies, newest first"),
    retrieve=extend_schema(summary="One study"),
    create=extend_schema(summary="Make a study, as a draft"),
    partial_update=extend_schema(
        summary="Change a draft, or the folder of any study",
        responses={200: StudySerializer, 409: OpenApiResponse(ErrorSerializer)},
    ),
)
class StudyViews(
    StrictView,
    mixins.ListModelMixin,
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    viewsets.GenericViewSet[Experiment],
):
    """Studies the caller is a member of."""

    queryset = Experiment.objects.none()
    serializer_class = StudySerializer
    filterset_class = StudyFilter
    lookup_field = "slug"

    def get_queryset(self) -> QuerySet[Experiment]:
        """Studies of the caller."""
        versions = ExperimentVersion.objects.filter(experiment=OuterRef("pk"), is_preview=False)
        newest = Subquery(versions.order_by("-number").values("number")[:1])
        studies = Experiment.objects.visible_to(self.request.user).select_related("materials", "lab")
        return studies.annotate(newest_version=newest)

    def perform_create(self, serializer: BaseSerializer[Experiment]) -> None:
        """A draft with the caller as owner."""
        require_money_for_pay(self.request, serializer.validated_data, before=Experiment())
        serializer.instance = create_study(cast("User", self.request.user), **serializer.validated_data)

    def get_object(self) -> Experiment:
        """Return the study; viewers may not change it, and an opened study changes its folder only."""
        changing = self.request.method == "PATCH"
        study = get_study(self.request.user, self.kwargs["slug"], editing=changing)
        is_draft = study.status in Experiment.Status.editable()
        data = self.request.data  # JSON of any kind; what is no object is refused by the serializer
        if changing and not is_draft and isinstance(data, Mapping) and set(data) != {"folder"}:
            raise NotADraft
        return study

    def perform_update(self, serializer: BaseSerializer[Experiment]) -> None:
        """Store the change and note it."""
        folder = serializer.validated_data.pop("folder", None)
        if folder is not None:
            move_to_folder(self.get_object(), folder, by=cast("User", self.request.user))
            cast("Experiment", serializer.instance).folder = folder
        if not serializer.validated_data:
            return
        with transaction.atomic():
            # Race: another request may have changed or opened the study since it was read, and saving stores
            # every field.
            study = Experiment.objects.select_for_update().get(pk=cast("Experiment", serializer.instance).pk)
            if study.status not in Experiment.Status.editable():
                raise NotADraft
            require_money_for_pay(self.request, serializer.validated_data, before=study)
            before = study_values(study)
            serializer.instance = study
            after = study_values(serializer.save())
            record_changes(study, self.request.user, "settings changed", before=before, after=after)


def row_count(model: type[Sentence] | type[MinimalPair]) -> Coalesce:
    """Rows of a material set, counted apart so that two counts do not multiply."""
    rows = model.objects.filter(material_set=OuterRef("pk")).order_by().values("material_set")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)


class MaterialFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the list of material sets."""

    search = filters.CharFilter(field_name="name", lookup_expr="icontains", help_text="Part of the name.")
    language = filters.CharFilter(help_text="Language tag.")

    class Meta:
        model = MaterialSet
        fields: list[str] = []


class CopyRequest(StrictSerializer):
    """Content of a copy."""

    materials = BooleanField(default=True, help_text="Whether it keeps the materials.")


class CopyView(StudyAPIView):
    """Copies."""

    queryset = Experiment.objects.none()
    serializer_class = StudySerializer

    @extend_schema(
        operation_id="studies_copy",
        summary="Copy a study into a draft of your own",
        request=CopyRequest,
        responses={201: StudySerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """For every member who may read it; without participants and codes."""
        study = get_study(self.user, slug)
        with_materials = self.validated_body(CopyRequest)["materials"]
        copy = copy_study(study, self.user, with_materials=with_materials)
        return Response(StudySerializer(copy).data, status=status.HTTP_201_CREATED)


class SetInUse(APIException):
    """A set that cannot be deleted."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "in_use"
    default_detail = "A study uses these materials, or they are not yours."


@extend_schema_view(
    list=extend_schema(summary="Your material sets"),
    retrieve=extend_schema(summary="One material set"),
    destroy=extend_schema(
        summary="Delete a set that no study uses, with its model scores",
        responses={204: None, 409: OpenApiResponse(ErrorSerializer)},
    ),
)
class MaterialViews(
    ColumnListMixin,
    StrictView,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[MaterialSet],
):
    """Material sets the caller owns or uses in a study."""

    queryset = MaterialSet.objects.none()
    serializer_class = MaterialSerializer
    filterset_class = MaterialFilter
    columns = {name: name for name in MaterialSerializer.Meta.fields}
    lookup_field = "slug"

    def get_queryset(self) -> QuerySet[MaterialSet]:
        """Sets of the caller with their sizes."""
        return MaterialSet.objects.visible_to(self.request.user).annotate(
            n_sentences=row_count(Sentence), n_pairs=row_count(MinimalPair)
        )

    def perform_destroy(self, instance: MaterialSet) -> None:
        """By its owner only."""
        user = cast("User", self.request.user)
        if not may_delete(user, instance):
            raise SetInUse
        delete_set(instance, by=user)


class PairFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the pairs of a set."""

    paradigm = filters.CharFilter(field_name="paradigm__name", help_text="Name of a paradigm.")
    phenomenon = filters.CharFilter(
        field_name="paradigm__phenomenon__name", help_text="Name of a phenomenon."
    )
    discard = filters.BooleanFilter(help_text="Whether the pair is marked to be left out.")


class SentenceFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the sentences of a set."""

    item = filters.CharFilter(field_name="item__key", help_text="Name of an item.")
    condition = filters.CharFilter(help_text="Name of a condition.")
    paradigm = filters.CharFilter(field_name="item__paradigm__name", help_text="Name of a paradigm.")
    phenomenon = filters.CharFilter(
        field_name="item__paradigm__phenomenon__name", help_text="Name of a phenomenon."
    )
    expected = filters.ChoiceFilter(choices=Sentence.Expected.choices, help_text="Intended status.")


class OfOneSet(ColumnListMixin, StrictView, generics.ListAPIView[Rows]):
    """Rows of one material set."""

    def of_set(self, rows: QuerySet[Rows]) -> QuerySet[Rows]:
        """The rows, or 404 for strangers."""
        slug = self.kwargs.get("slug")
        material_set = MaterialSet.objects.visible_to(self.request.user).filter(slug=slug).first()
        if material_set is None:
            raise Http404
        return rows.filter(material_set=material_set)


@extend_schema_view(get=extend_schema(summary="Minimal pairs of a material set"))
class PairViews(OfOneSet[MinimalPair]):
    """Minimal pairs in the order of their file."""

    columns = {
        "pair_id": "key",
        "good_id": "good__key",
        "bad_id": "bad__key",
        "paradigm": Coalesce("paradigm__name", Value("")),
        "phenomenon": Coalesce("paradigm__phenomenon__name", Value("")),
        "sentence_good": "good__text",
        "sentence_bad": "bad__text",
        "discard": "discard",
    }
    queryset = MinimalPair.objects.none()
    serializer_class = PairSerializer
    filterset_class = PairFilter

    def get_queryset(self) -> QuerySet[MinimalPair]:
        """Pairs of the set."""
        return self.of_set(MinimalPair.objects.all())


@extend_schema_view(get=extend_schema(summary="Sentences of a material set"))
class SentenceViews(OfOneSet[Sentence]):
    """Sentences in the order of their file."""

    columns = {
        "sentence_id": "key",
        "sentence": "text",
        "item": "item__key",
        "condition": "condition",
        "paradigm": Coalesce("item__paradigm__name", Value("")),
        "phenomenon": Coalesce("item__paradigm__phenomenon__name", Value("")),
        "expected": "expected",
    }
    queryset = Sentence.objects.none()
    serializer_class = SentenceSerializer
    filterset_class = SentenceFilter

    def get_queryset(self) -> QuerySet[Sentence]:
        """Sentences of the set."""
        return self.of_set(Sentence.objects.all())


@extend_schema_view(get=extend_schema(summary="State, progress and result of a job"))
class JobView(StrictView, generics.RetrieveAPIView[Job]):
    """Long work the caller asked for, or of a study of theirs."""

    queryset = Job.objects.none()
    serializer_class = JobSerializer

    def get_queryset(self) -> QuerySet[Job]:
        """Jobs the caller may see."""
        return visible_jobs(self.request.user)


class TokenSerializer(StrictModelSerializer[ApiToken]):
    """What a token allows."""

    user = CharField(source="user.username", read_only=True)
    scopes = ListField(child=ChoiceField(ApiToken.Scope.choices), read_only=True)

    class Meta:
        model = ApiToken
        fields = ["user", "name", "scopes", "expires_at"]
        read_only_fields = fields


class TokenView(StrictView):
    """The token of a request."""

    @extend_schema(summary="Scopes and end of the token that you send", responses=TokenSerializer)
    def get(self, request: Request) -> Response:
        """404 with a login's cookie, which has no scopes."""
        if not isinstance(request.auth, ApiToken):
            raise Http404
        return Response(TokenSerializer(request.auth).data)
