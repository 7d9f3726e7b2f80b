"""The reports of agreement, ratings and leaderboards as JSON, and the choices they depend on."""

from rest_framework import serializers

from analysis.choices import INTERVAL_METHODS, LEADERBOARD_SORT, TIES, TRANSFORMS, ZEROS
from analysis.multiple_tests import CORRECTIONS
from config.api_bases import StrictSerializer
from experiments.api.serializers import BIGGEST, PlainText
from experiments.lists.rounds import MOST_ROUNDS
from releases.api.fields import EXCLUDE, AnyObject


class ExcludeChoices(StrictSerializer):
    """Exclusions; by default those of the study's current plan."""

    exclude = PlainText(required=False, allow_blank=True, default="", help_text=EXCLUDE)


class RuleChoices(ExcludeChoices):
    """Exclusions and inclusion rule."""

    rule = PlainText(required=False, allow_blank=True, default="", help_text="blimp, climp, M/N or a share.")
    ties = serializers.ChoiceField(choices=TIES, required=False, default="strict")
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=BIGGEST)


class AgreementChoices(RuleChoices):
    """Parameters of an agreement report."""

    round = serializers.IntegerField(
        source="round_number",
        required=False,
        default=None,
        min_value=1,
        max_value=MOST_ROUNDS + 1,
        help_text="Judgments of this round only.",
    )
    interval = serializers.ChoiceField(
        choices=list(INTERVAL_METHODS),
        required=False,
        default="auto",
        help_text="Method of intervals over participants.",
    )
    cross_fit = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Also measure included paradigms by participants who had no part in including them.",
    )


def correction_field() -> serializers.ChoiceField:
    """The correction for several tests."""
    return serializers.ChoiceField(
        choices=list(CORRECTIONS),
        required=False,
        default="holm",
        help_text="For several tests: Holm, or Benjamini-Hochberg (bh). The document has both.",
    )


def sesoi_field() -> serializers.FloatField:
    """The smallest effect of interest."""
    return serializers.FloatField(
        required=False,
        default=None,
        allow_null=True,
        min_value=1e-6,
        max_value=1e6,
        help_text="Smallest effect of interest, on the transform's scale or in shares: adds equivalence.",
    )


def outliers_field() -> PlainText:
    """The outlier rule of response times."""
    return PlainText(
        required=False,
        allow_blank=True,
        default="",
        max_length=60,
        help_text="Response times that are left out, such as 200-10000,2.5sd (ms; SD or mad of log times).",
    )


def zeros_field() -> serializers.ChoiceField:
    """Treatment of magnitude estimates of zero."""
    return serializers.ChoiceField(
        choices=list(ZEROS),
        required=False,
        default="keep",
        help_text="Magnitude estimates of zero in raw numbers and z; logarithms never have them.",
    )


class RatingsChoices(ExcludeChoices):
    """Parameters of a report of ratings."""

    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    ddof = serializers.ChoiceField(choices=[0, 1], required=False, default=1)
    zeros = zeros_field()


class AgreementBlock(StrictSerializer):
    """Counts and shares of some paradigms together; undefined numbers are null."""

    paradigms = serializers.IntegerField()
    included = serializers.IntegerField(allow_null=True)
    items = serializers.IntegerField()
    items_right = serializers.IntegerField()
    ties = serializers.IntegerField()
    majority_agreement = serializers.FloatField(allow_null=True)
    individual_agreement = serializers.FloatField(allow_null=True)
    individual_agreement_pooled = serializers.FloatField(allow_null=True)
    judgments = serializers.IntegerField()
    ci_low = serializers.FloatField(allow_null=True)
    ci_high = serializers.FloatField(allow_null=True)


class AgreementReport(StrictSerializer):
    """As ``agreement --json`` prints it."""

    experiment = serializers.CharField()
    rule = serializers.CharField(allow_null=True)
    ties = serializers.CharField()
    round = serializers.IntegerField(allow_null=True, help_text="Null: all rounds.")
    overall = AgreementBlock()
    overall_included = AgreementBlock()
    paradigms = serializers.ListField(child=AnyObject())
    cross_fitted = AnyObject(
        allow_null=True, help_text="Individual agreement corrected for the selection, with cross_fit."
    )
    judgments_merged = serializers.IntegerField(help_text="Answers that repeat another of the participant.")
    undecided = AnyObject(allow_null=True, help_text="Answers of both and neither, and how they count.")
    excluded = serializers.ListField(child=AnyObject())
    plan = AnyObject(help_text="Name, version and SHA-256 of the exclusion plan.")
    conventions = AnyObject()


class RatingsReport(StrictSerializer):
    """As ``ratings --json`` prints it."""

    experiment = serializers.CharField()
    transform = serializers.CharField()
    ddof = serializers.IntegerField()
    scope = serializers.CharField()
    scales = serializers.ListField(
        child=serializers.CharField(), help_text="With several, items and participants have a row for each."
    )
    items = serializers.ListField(child=AnyObject())
    participants = serializers.ListField(child=AnyObject())
    magnitudes = AnyObject(allow_null=True, help_text="Estimates that are zero, negative, and left out.")
    plan = AnyObject(help_text="Name, version and SHA-256 of the exclusion plan.")
    excluded = serializers.ListField(child=AnyObject())


class LeaderboardChoices(StrictSerializer):
    """Order and conventions of a leaderboard."""

    sort = PlainText(
        required=False,
        default=LEADERBOARD_SORT,
        max_length=60,
        help_text="Such as blimp, adc_0.5, pearson_r.",
    )
    order = serializers.ChoiceField(choices=["ascending", "descending"], required=False)
    conventions = PlainText(
        required=False, allow_blank=True, default="", max_length=200, help_text="A key of `offered`."
    )


class LeaderboardReport(StrictSerializer):
    """As ``leaderboard --json`` prints it."""

    release = serializers.IntegerField()
    sha256 = serializers.CharField()
    sort = serializers.CharField()
    ascending = serializers.BooleanField(allow_null=True)
    sort_keys = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=AnyObject())
    conventions = AnyObject()
    scoring = serializers.ListField(child=AnyObject(), help_text="How each model was scored.")
    offered = serializers.ListField(child=AnyObject())
    not_compared = serializers.ListField(child=AnyObject())
