"""A study's design over REST: rounds, lists, and the proof that they are balanced."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import StrictSerializer
from config.api_schema import ErrorSerializer
from experiments.api.serializers import ObjectField
from experiments.api.views import StudyAPIView
from experiments.lists.balance_report import design_document
from experiments.lists.build import get_design
from experiments.lists.rounds import ITEMS, MOST_LISTS, PARTICIPANTS
from experiments.models import Design, Experiment, MaterialSet
from experiments.pages.access import get_locked_study
from experiments.pages.design.forms import APART, DesignForm
from experiments.pages.design.page import save_design
from experiments.studies.history import design_values

BIGGEST = 2**31 - 1


class ClaimSerializer(StrictSerializer):
    """One statement about the lists of a round."""

    text = serializers.CharField()
    holds = serializers.BooleanField()
    numbers = serializers.CharField(help_text="The counts behind it.")


class ListSerializer(StrictSerializer):
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
    lists = ListSerializer(many=True)


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
