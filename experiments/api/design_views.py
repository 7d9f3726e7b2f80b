"""A study's design over REST: rounds, lists, and the proof that they are balanced."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import BadInput
from config.api_bases import StrictSerializer
from config.api_schema import ErrorSerializer
from experiments.api.serializers import BIGGEST, ObjectField, PlainText
from experiments.api.views import StudyAPIView
from experiments.lists.balance_report import design_document
from experiments.lists.build import get_design
from experiments.lists.rounds import ITEMS, MOST_LISTS, MOST_ROUNDS, PARTICIPANTS
from experiments.materials.findings import LEFT_OUT_FOR
from experiments.models import Design, Experiment, MaterialSet
from experiments.pages.access import get_locked_study
from experiments.pages.design.forms import APART, DesignForm, RoundForm
from experiments.pages.design.page import save_design
from experiments.pages.design.rounds import (
    add_round,
    change_round,
    editable_design,
    find_round,
    remove_round,
)
from experiments.pages.design.sample import leave_items_out, store_split
from experiments.studies.history import design_values
from experiments.studies.proposals import proposals


class ClaimSerializer(StrictSerializer):
    """One statement about the lists of a round."""

    text = serializers.CharField()
    holds = serializers.BooleanField()
    numbers = serializers.CharField(help_text="The counts behind it.")


class TrialListSerializer(StrictSerializer):
    """Content of one list."""

    list = serializers.CharField(help_text="Its name, as in the column `list` of judgments.")
    n_trials = serializers.IntegerField()
    n_targets = serializers.IntegerField()
    n_fillers = serializers.IntegerField()
    n_catch = serializers.IntegerField()
    n_practice = serializers.IntegerField()
    n_anchors = serializers.IntegerField()
    conditions = serializers.DictField(child=serializers.IntegerField(), help_text="Targets by condition.")
    n_expected_first = serializers.IntegerField(help_text="Forced choice: expected member on top.")
    n_repeated = serializers.IntegerField(help_text="Targets whose item is in the list already.")


class RoundSerializer(StrictSerializer):
    """One round: its scheme, whom it is for, its lists and their proof."""

    number = serializers.IntegerField()
    kind = serializers.ChoiceField(Design.Kind.choices)
    n_lists = serializers.IntegerField()
    items_per_paradigm = serializers.IntegerField(allow_null=True)
    items = serializers.CharField(help_text=f"Which items: {', '.join(ITEMS)}.")
    without = serializers.ListField(child=serializers.CharField(), help_text="Paradigms left out.")
    participants = serializers.CharField(help_text=f"Who takes part: {', '.join(PARTICIPANTS)}.")
    target_judgments = serializers.IntegerField(allow_null=True)
    max_participants = serializers.IntegerField(allow_null=True)
    seed = serializers.IntegerField()
    claims = ClaimSerializer(many=True)
    lists = TrialListSerializer(many=True)


class AroundSerializer(StrictSerializer):
    """Settings shared by all rounds."""

    catch_per_list = serializers.IntegerField()
    trials_per_block = serializers.IntegerField()
    order = serializers.ChoiceField(Design.Order.choices, help_text="Who shares an order of the trials.")
    constraints = ObjectField(help_text="Rules of the order.")
    anchor_order = serializers.ChoiceField(Design.AnchorOrder.choices)
    fillers = serializers.CharField(allow_null=True, help_text="Short name of the set of fillers.")
    filler_ratio = serializers.FloatField(allow_null=True)


class CoverageSerializer(StrictSerializer):
    """The share of the materials that the lists of all rounds show."""

    shown = serializers.IntegerField()
    all = serializers.IntegerField(help_text="Without discarded pairs and items left out.")
    of = serializers.ChoiceField(["pairs", "sentences"])


class DesignSerializer(StrictSerializer):
    """The design of a study as it is planned now; opening stores just these lists."""

    experiment = serializers.CharField()
    current_round = serializers.IntegerField(help_text="The round that takes participants.")
    design = AroundSerializer()
    balanced = serializers.BooleanField(help_text="Whether every claim holds.")
    coverage = CoverageSerializer()
    rounds = RoundSerializer(many=True)


OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}


class DesignRequest(StrictSerializer):
    """Settings of the first round and of the order; null removes a limit."""

    kind = serializers.ChoiceField(Design.Kind.choices, required=False)
    n_lists = serializers.IntegerField(required=False, min_value=1, max_value=MOST_LISTS)
    items_per_paradigm = serializers.IntegerField(min_value=1, max_value=BIGGEST, **OPTIONAL)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    catch_per_list = serializers.IntegerField(
        required=False, min_value=0, max_value=BIGGEST, help_text="0: all."
    )
    trials_per_block = serializers.IntegerField(required=False, min_value=0, max_value=BIGGEST)
    filler_materials = serializers.SlugField(
        help_text="Short name of a set beside the materials.", **OPTIONAL
    )
    filler_ratio = serializers.FloatField(min_value=0, max_value=100, **OPTIONAL)
    anchor_order = serializers.ChoiceField(Design.AnchorOrder.choices, required=False)
    order = serializers.ChoiceField(Design.Order.choices, required=False)
    apart = serializers.ListField(
        child=serializers.ChoiceField(APART), required=False, help_text="What is never adjacent."
    )
    longest_run = serializers.IntegerField(
        min_value=1, max_value=50, help_text="Of one condition.", **OPTIONAL
    )
    paradigm_distance = serializers.IntegerField(min_value=2, max_value=200, **OPTIONAL)
    fillers_between = serializers.IntegerField(
        min_value=1, max_value=20, help_text="Least number between targets.", **OPTIONAL
    )


class DesignView(StudyAPIView):
    """Lists and balance of one study."""

    queryset = Experiment.objects.none()
    serializer_class = DesignSerializer

    @extend_schema(
        summary="A study's design: rounds, lists, and the proof of their balance",
        responses={200: DesignSerializer, 422: ErrorSerializer},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The document that ``manage.py lists --json`` prints."""
        return Response(design_document(self.study()))

    @extend_schema(
        summary="Change a study's design", request=DesignRequest, responses={200: DesignSerializer}
    )
    @transaction.atomic
    def patch(self, request: Request, slug: str) -> Response:
        """The new lists with their proof; 422 where none can be built, and nothing is stored."""
        study = get_locked_study(self.user, slug)
        changes = self.validated_body(DesignRequest)
        if name := changes.get("filler_materials"):
            fillers = MaterialSet.objects.visible_to(self.user).filter(slug=name).first()
            if fillers is None:
                raise serializers.ValidationError({"filler_materials": ["There is no such set for you."]})
            changes["filler_materials"] = fillers.pk
        stored = DesignForm(instance=get_design(study), user=self.user)
        sent = {name: stored[name].value() for name in stored.fields} | changes
        form = DesignForm(sent, instance=get_design(study), user=self.user)
        before = design_values(form.instance)
        if not form.is_valid():
            raise serializers.ValidationError(form.errors.get_json_data())
        save_design(study, form, before=before, user=self.user)
        return Response(design_document(Experiment.objects.get(pk=study.pk)))


class RoundRequest(StrictSerializer):
    """Changes of a further round; null: as in the first round."""

    kind = serializers.ChoiceField(Design.Kind.choices, required=False)
    n_lists = serializers.IntegerField(required=False, min_value=1, max_value=MOST_LISTS)
    items_per_paradigm = serializers.IntegerField(min_value=1, max_value=BIGGEST, **OPTIONAL)
    items = serializers.ChoiceField(list(ITEMS), required=False)
    without = serializers.ListField(
        child=PlainText(max_length=200), required=False, help_text="Paradigms left out."
    )
    participants = serializers.ChoiceField(list(PARTICIPANTS), required=False)
    target_judgments = serializers.IntegerField(min_value=0, max_value=BIGGEST, **OPTIONAL)
    max_participants = serializers.IntegerField(min_value=1, max_value=BIGGEST, **OPTIONAL)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


class DesignChangeView(StudyAPIView):
    """Base of further changes of a design; they respond with the lists and their proof."""

    queryset = Experiment.objects.none()
    serializer_class = DesignSerializer

    def document(self, slug: str) -> Response:
        """The design as it is planned now."""
        return Response(design_document(Experiment.objects.get(slug=slug)))


class RoundsView(DesignChangeView):
    """Further rounds."""

    takes_no_body = True

    @extend_schema(summary="Add a round like the first", request=None, responses={201: DesignSerializer})
    @transaction.atomic
    def post(self, request: Request, slug: str) -> Response:
        """Of new items where items are sampled; PATCH changes it."""
        self.study()
        study, design = editable_design(self.user, slug)
        if len(design.rounds) >= MOST_ROUNDS:
            raise BadInput(f"there are {MOST_ROUNDS} further rounds already.")
        add_round(study, design, by=self.user)
        response = self.document(slug)
        response.status_code = status.HTTP_201_CREATED
        return response


class RoundView(DesignChangeView):
    """One further round."""

    @extend_schema(summary="Change a further round", request=RoundRequest, responses=DesignSerializer)
    @transaction.atomic
    def patch(self, request: Request, slug: str, number: int) -> Response:
        """What is sent; 422 where no lists can be built."""
        (study, design), data = editable_design(self.user, slug), self.validated_body(RoundRequest)
        stored = find_round(study, design, number)
        values = {**stored.as_dict(), **data}
        values["without"] = "\n".join(values["without"])
        prefix = RoundForm(study=study, design_round=stored).prefix
        form = RoundForm(
            {f"{prefix}-{name}": value for name, value in values.items() if value is not None},
            study=study,
            design_round=stored,
        )
        if not form.is_valid():
            raise serializers.ValidationError(form.errors.get_json_data())
        change_round(study, design, form, by=self.user)
        return self.document(slug)

    @extend_schema(summary="Take a round away that has not begun", responses={200: DesignSerializer})
    @transaction.atomic
    def delete(self, request: Request, slug: str, number: int) -> Response:
        """Later ones move up."""
        study, design = editable_design(self.user, slug)
        remove_round(study, design, find_round(study, design, number).number, by=self.user)
        return self.document(slug)


class SplitRequest(StrictSerializer):
    """A proposal."""

    n_lists = serializers.IntegerField(min_value=1, max_value=BIGGEST)


class SplitView(DesignChangeView):
    """Splits of the items over lists."""

    @extend_schema(summary="Split all items over lists", request=SplitRequest, responses=DesignSerializer)
    @transaction.atomic
    def post(self, request: Request, slug: str) -> Response:
        """One of the proposals for these materials; 422 names their numbers of lists."""
        study = get_locked_study(self.user, slug)
        n_lists = self.validated_body(SplitRequest)["n_lists"]
        offers = {offer.n_lists: offer for offer in proposals(study)}
        if n_lists not in offers:
            numbers = ", ".join(map(str, sorted(offers))) or "no split"
            raise BadInput(f"{n_lists} lists are not proposed.", remedy=f"There is {numbers}.")
        store_split(study, offers[n_lists], by=self.user)
        return self.document(slug)


class LeftOutRequest(StrictSerializer):
    """A check whose items are left out."""

    check = serializers.ChoiceField(list(LEFT_OUT_FOR))
    of_fillers = serializers.BooleanField(default=False, help_text="Of the set of fillers.")
    left_out = serializers.BooleanField(default=True, help_text="False: they are shown again.")


class LeftOutView(DesignChangeView):
    """Items that a check names."""

    @extend_schema(
        summary="Leave out the items that a check names", request=LeftOutRequest, responses=DesignSerializer
    )
    @transaction.atomic
    def post(self, request: Request, slug: str) -> Response:
        """A repetition changes nothing."""
        study = get_locked_study(self.user, slug)
        data = self.validated_body(LeftOutRequest)
        n = leave_items_out(
            study,
            data["check"],
            of_fillers=data["of_fillers"],
            is_shown=not data["left_out"],
            by=self.user,
        )
        if n is None:
            raise BadInput("the study has no such materials.", remedy="Choose them first.")
        return self.document(slug)
