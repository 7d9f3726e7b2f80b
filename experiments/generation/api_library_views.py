"""Word lists over REST, and what happens to drawn pairs: changes, materials, sharing."""

from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import BadInput, StillComputing
from config.api_bases import StrictModelSerializer, StrictSerializer, StrictView
from experiments.api.authentication import count_request
from experiments.api.serializers import JobSerializer, MaterialSerializer, PlainText
from experiments.generation.api_views import DrawnPairSerializer
from experiments.generation.lexicon import languages
from experiments.generation.pages.library import ShareForm
from experiments.generation.stored.library import may_change, owns, share
from experiments.generation.stored.pair_sets import (
    MAX_REASON,
    MAX_TEXT,
    edit_pair,
    make_materials,
    restore_pair,
    strike_pair,
)
from experiments.generation.stored.word_lists import MAX_CHARACTERS, NAME, delete_words, save_words
from experiments.models import GeneratedPair, Job, MaterialSet, OwnParadigm, PairSet, WordList


class LibraryView(StrictView, generics.GenericAPIView[Any]):
    """Base of the views of one row."""

    queryset: Any = PairSet.objects.none()
    pagination_class = None
    model: ClassVar[Any] = PairSet

    @property
    def user(self) -> User:
        """The authenticated user."""
        return cast("User", self.request.user)

    def row(self, *, editing: bool = False) -> Any:
        """The row of the address: 404 for strangers, 403 for viewers who would change it."""
        rows = self.model.objects.visible_to(self.user).select_related("lab", "study")
        row = get_object_or_404(rows, pk=self.kwargs["pk"])
        if editing and not may_change(self.user, row):
            raise PermissionDenied("Viewers do not change it.")
        return row

    def validated_body(self, kind: type[serializers.Serializer[Any]], **options: Any) -> dict[str, Any]:
        """The validated body."""
        body = kind(data=self.request.data, **options)
        body.is_valid(raise_exception=True)
        data: dict[str, Any] = body.validated_data
        return data


class SharingSerializer(StrictSerializer):
    """Who sees a row beside its owner: the members of one lab, or of one study."""

    lab = serializers.SlugField(allow_null=True, default=None, help_text="Short name of a lab that you edit.")
    study = serializers.SlugField(
        allow_null=True, default=None, help_text="Short name of a study that you edit."
    )


class SharingView(LibraryView):
    """Sharing of a paradigm, a set of pairs or a word list, by its owner."""

    serializer_class = SharingSerializer

    @extend_schema(
        summary="Share with a lab or the team of a study",
        request=SharingSerializer,
        responses=SharingSerializer,
    )
    def put(self, request: Request, pk: int) -> Response:
        """Neither: only you see it."""
        data, row = self.validated_body(SharingSerializer), self.row()
        chosen = [f"{kind}:{slug}" for kind, slug in data.items() if slug]
        if len(chosen) > 1:
            raise serializers.ValidationError({"study": ["Choose a lab or a study."]})
        form = ShareForm({"share_with": "".join(chosen)}, user=self.user, row=row)
        if not form.is_valid():
            kind = chosen[0].partition(":")[0]
            raise serializers.ValidationError({kind: ["There is none of that name that you edit."]})
        share(row, self.user, **form.places())
        slugs = {"lab": row.lab.slug if row.lab else None, "study": row.study.slug if row.study else None}
        return Response(slugs)


class SharedParadigmView(SharingView):
    """Sharing of a paradigm."""

    queryset = OwnParadigm.objects.none()
    model = OwnParadigm


class SharedWordsView(SharingView):
    """Sharing of a word list."""

    queryset = WordList.objects.none()
    model = WordList


class PairChange(StrictSerializer):
    """A change of a pair; the pair as drawn is kept."""

    good = PlainText(max_length=MAX_TEXT, required=False)
    bad = PlainText(max_length=MAX_TEXT, required=False)
    is_struck = serializers.BooleanField(required=False, help_text="Whether materials leave it out.")
    reason = PlainText(max_length=MAX_REASON, required=False, default="", allow_blank=True)


class DrawnPairView(LibraryView):
    """One drawn pair."""

    queryset = GeneratedPair.objects.none()
    serializer_class = DrawnPairSerializer

    @extend_schema(summary="Change or strike a drawn pair", request=PairChange, responses=DrawnPairSerializer)
    def patch(self, request: Request, pk: int, pair: int) -> Response:
        """What is sent; the change is kept with its reason."""
        data, row = self.validated_body(PairChange), self.row(editing=True)
        stored = get_object_or_404(row.pairs, pk=pair)
        reason = data["reason"]
        if {"good", "bad"} & data.keys():
            texts = {name: data.get(name, getattr(stored, name)) for name in ("good", "bad")}
            edit_pair(stored, self.user, **texts, reason=reason)
        if "is_struck" in data:
            change = strike_pair if data["is_struck"] else restore_pair
            change(stored, self.user, reason=reason)
        return Response(DrawnPairSerializer(row.pairs.get(pk=pair)).data)


class MaterialsOfPairs(StrictSerializer):
    """The set that is made."""

    name = PlainText(max_length=200)
    licence = PlainText(max_length=200, required=False, default="", allow_blank=True)


class PairSetMaterialsView(LibraryView):
    """Materials of a set of pairs."""

    may_be_early = True
    serializer_class = MaterialSerializer

    @extend_schema(
        summary="Make materials of a set of pairs",
        request=MaterialsOfPairs,
        responses={201: MaterialSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        """201 with the set, 202 with the job that stores a large one; a repetition returns the same."""
        data, row = self.validated_body(MaterialsOfPairs), self.row(editing=True)
        if row.drawn_at is None:
            raise StillComputing("the pairs are being drawn.", remedy="Ask again.")
        materials: MaterialSet | Job = make_materials(row, self.user, **data)
        if isinstance(materials, Job):
            return Response(JobSerializer(materials).data, status=status.HTTP_202_ACCEPTED)
        materials.n_sentences, materials.n_pairs = materials.sentences.count(), materials.pairs.count()  # type: ignore[attr-defined]
        return Response(MaterialSerializer(materials).data, status=status.HTTP_201_CREATED)


class WordListSerializer(StrictModelSerializer[WordList]):
    """A table of words beside the lexicon."""

    name = serializers.RegexField(NAME.pattern + r"\Z", max_length=71)
    language = serializers.ChoiceField(languages())
    source = PlainText(max_length=500, help_text="Where the words come from.")  # type: ignore[assignment]
    licence = PlainText(max_length=200)
    text = PlainText(source="newest.text", max_length=MAX_CHARACTERS, trim_whitespace=False, help_text="CSV.")
    version = serializers.IntegerField(source="newest.number", read_only=True)
    n_rows = serializers.IntegerField(source="newest.n_rows", read_only=True)
    based_on = serializers.IntegerField(
        write_only=True, required=False, min_value=1, max_value=10**6, help_text="Version that was changed."
    )

    class Meta:
        model = WordList
        fields = ["id", "name", "language", "source", "licence", "version", "n_rows", "text", "based_on"]
        read_only_fields = ["id"]


class WordAPIView(LibraryView):
    """Base of the views of word lists."""

    queryset = WordList.objects.none()
    serializer_class: Any = WordListSerializer
    model = WordList

    def save(self, data: dict[str, Any], row: WordList | None = None) -> WordList:
        """Save a table or its next version."""
        count_request("paradigm-check", str(self.user.pk), limit=settings.PARADIGM_CHECKS_PER_MINUTE)
        values = {**data, "text": data.pop("newest")["text"]} if "newest" in data else data
        values.pop("newest", None)
        if row is not None:
            names = ("name", "language", "source", "licence")
            stored = {name: getattr(row, name) for name in names} | {"text": row.newest.text}
            if values.get("language", row.language) != row.language:
                raise BadInput("a table keeps its language.", remedy="Make another table.")
            values = {**stored, **values}
        return save_words(self.user, word_list=row, **values).word_list


class WordListFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the word lists."""

    search = filters.CharFilter(field_name="name", lookup_expr="icontains", help_text="Part of the name.")
    language = filters.CharFilter(help_text="Language tag.")


@extend_schema_view(get=extend_schema(summary="Your word lists, and those shared with you"))
class WordListViews(WordAPIView, generics.ListAPIView[WordList]):
    """Word lists."""

    filterset_class = WordListFilter
    pagination_class: Any = generics.ListAPIView.pagination_class

    def get_queryset(self) -> QuerySet[WordList]:
        """Lists of the caller, by name."""
        return WordList.objects.visible_to(self.user).with_newest().order_by("name", "pk")

    @extend_schema(summary="Add a word list", request=WordListSerializer, responses={201: WordListSerializer})
    def post(self, request: Request) -> Response:
        """422 names the rows with faults."""
        row = self.save(self.validated_body(WordListSerializer))
        return Response(WordListSerializer(row).data, status=status.HTTP_201_CREATED)


class WordListView(WordAPIView):
    """One word list."""

    @extend_schema(summary="One word list with its rows", responses=WordListSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """The newest version."""
        return Response(WordListSerializer(self.row()).data)

    @extend_schema(
        summary="Save the next version of a word list",
        request=WordListSerializer,
        responses=WordListSerializer,
    )
    def patch(self, request: Request, pk: int) -> Response:
        """What is sent."""
        data, row = self.validated_body(WordListSerializer, partial=True), self.row(editing=True)
        return Response(WordListSerializer(self.save(data, row)).data)

    @extend_schema(summary="Delete a word list", responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """By its owner; paradigms that need its words find them no more."""
        row = self.row()
        if not owns(self.user, row):
            raise PermissionDenied("Only its owner deletes words.")
        delete_words(row, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
