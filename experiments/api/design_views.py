"""A study's design over REST: rounds, lists, and the proof that they are balanced."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import StrictSerializer, StrictView
from config.api_schema import ErrorSerializer
from experiments.api.serializers import ObjectField
from experiments.lists.balance_report import design_document
from experiments.lists.rounds import ITEMS, PARTICIPANTS
from experiments.models import Design
from experiments.pages.access import get_study


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


class DesignView(StrictView):
    """Lists and balance of one study."""

    @extend_schema(
        summary="A study's design: rounds, lists, and the proof of their balance",
        responses={200: DesignSerializer, 422: ErrorSerializer},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The document that ``manage.py lists --json`` prints."""
        return Response(design_document(get_study(request.user, slug)))
