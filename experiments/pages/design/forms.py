"""Forms of the design page: lists, fillers, order, target, and further rounds."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q

from analysis.errors import BadInput
from experiments.lists.build import order_rules
from experiments.lists.rounds import (
    ITEMS,
    MOST_LISTS,
    PARTICIPANTS,
    Round,
    checked_rounds,
)
from experiments.models import Design, Experiment, MaterialSet
from experiments.pages.editing.conflicts import (
    form_version,
)
from experiments.pages.forms import set_remark
from experiments.studies.targets import target_label

APART = [("paradigm", "two of one paradigm"), ("condition", "two of one condition")]
OURS = {"no_adjacent", "longest_run", "fillers_between"}  # of these the form writes what it asks for


class DesignForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """From items to lists, trials around the targets, and rules of order."""

    apart = forms.MultipleChoiceField(
        choices=APART,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Never next to each other",
        help_text="Choose nothing, here and below, for the usual rules: as much variety as the lists allow.",
    )
    longest_run = forms.IntegerField(
        min_value=1, max_value=50, required=False, label="Most of one condition in a row"
    )
    paradigm_distance = forms.IntegerField(
        min_value=2,
        max_value=200,
        required=False,
        label="Least distance between two of one paradigm",
        help_text="3 leaves two other trials between them.",
    )
    fillers_between = forms.IntegerField(
        min_value=1, max_value=20, required=False, label="Fillers between any two targets, at least"
    )

    class Meta:
        model = Design
        fields = [
            "kind",
            "n_lists",
            "items_per_paradigm",
            "seed",
            "catch_per_list",
            "trials_per_block",
            "filler_materials",
            "filler_ratio",
            "anchor_order",
            "order",
        ]
        labels = {
            "kind": "Scheme",
            "n_lists": "Number of lists",
            "items_per_paradigm": "Items per paradigm",
            "catch_per_list": "Catch trials per list",
            "trials_per_block": "Trials between breaks",
            "filler_materials": "Fillers",
            "filler_ratio": "Fillers for each target",
            "anchor_order": "Order of the anchors",
            "order": "Order of the trials",
        }
        help_texts = {
            "kind": "A sample where there is far more than one person can judge, else a Latin square.",
            "items_per_paradigm": "For samples and single paradigms only.",
            "catch_per_list": "0 = use all.",
            "seed": "The same seed and materials give the same lists.",
            "filler_materials": "Beside those of the materials. All lists have the same, in file order.",
            "filler_ratio": "1 gives as many fillers as targets, 0.5 half as many. Empty: all of them.",
            "anchor_order": "Anchors are written in task and texts, and shown first to everybody.",
            "order": "Both are random under the rules below, and stored with every judgment.",
        }

    def __init__(self, *args: Any, user: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance.constraints
        self.initial["apart"] = stored.get("no_adjacent", [])
        self.initial["longest_run"] = stored.get("longest_run", {}).get("condition")
        self.initial["fillers_between"] = stored.get("fillers_between")
        self.initial["paradigm_distance"] = stored.get("min_distance", {}).get("paradigm")
        visible = MaterialSet.objects.visible_to(user).values("pk") if user else MaterialSet.objects.none()
        fillers = self.fields["filler_materials"]
        assert isinstance(fillers, forms.ModelChoiceField)
        fillers.queryset = MaterialSet.objects.filter(
            Q(pk__in=visible) | Q(pk=self.instance.filler_materials_id)
        ).exclude(pk=self.instance.experiment.materials_id)
        fillers.empty_label = "none"
        orders = [self.fields["anchor_order"], self.fields["order"]]
        for field in orders:
            field.required = False
        for field in (fillers, *orders):
            set_remark(field, "")

    def groups(self) -> list[tuple[str, list[Any]]]:
        """Fields under their headings."""
        headings = {
            "Lists": "kind n_lists items_per_paradigm seed",
            "Around the targets": "filler_materials filler_ratio anchor_order "
            "catch_per_list trials_per_block",
            "Order": "order apart paradigm_distance longest_run fillers_between",
        }
        return [(heading, [self[name] for name in names.split()]) for heading, names in headings.items()]

    def clean_n_lists(self) -> int:
        """Keep the number of lists such that each is filled."""
        number: int = self.cleaned_data["n_lists"]
        if not 1 <= number <= MOST_LISTS:
            raise ValidationError(f"Choose 1 to {MOST_LISTS} lists.")
        return number

    def clean_filler_ratio(self) -> float | None:
        """Refuse fewer fillers than none."""
        ratio: float | None = self.cleaned_data["filler_ratio"]
        if ratio is not None and not 0 <= ratio <= 100:
            raise ValidationError("Write a number from 0 to 100, or nothing.")
        return ratio

    def clean_anchor_order(self) -> str:
        """A form without the field leaves the order as it is."""
        order: str = self.cleaned_data["anchor_order"] or self.instance.anchor_order
        return order

    def clean_order(self) -> str:
        """A form without the field leaves the order as it is."""
        order: str = self.cleaned_data["order"] or self.instance.order
        return order

    def clean(self) -> dict[str, Any]:
        """Store the order's rules as the design keeps them; unknown stored rules are kept."""
        super().clean()
        cleaned = self.cleaned_data
        stored = self.instance.constraints
        rules = {name: value for name, value in stored.items() if name not in OURS}
        distances = {k: v for k, v in stored.get("min_distance", {}).items() if k != "paradigm"}
        if cleaned.get("paradigm_distance"):
            distances["paradigm"] = cleaned["paradigm_distance"]
        rules["min_distance"] = distances
        offered = {name for name, _ in APART}
        hidden = [name for name in stored.get("no_adjacent", []) if name not in offered]
        rules["no_adjacent"] = [*(cleaned.get("apart") or []), *hidden]
        longest = {k: v for k, v in stored.get("longest_run", {}).items() if k != "condition"}
        if cleaned.get("longest_run"):
            longest["condition"] = cleaned["longest_run"]
        rules["longest_run"] = longest
        rules["fillers_between"] = cleaned.get("fillers_between") or 0
        rules = {name: value for name, value in rules.items() if value}
        order_rules(rules)
        self.instance.constraints = rules
        return cleaned


class TargetForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """Judgments wanted of each sentence or pair, and the limit of participants."""

    class Meta:
        model = Experiment
        fields = ["target_judgments", "target_unit", "max_participants"]
        labels = {"target_unit": "Counted for", "max_participants": "Maximum number of participants"}
        help_texts = {
            "target_judgments": "Recruiting stops once each has as many, sessions in progress included. "
            "0 = never stop.",
            "target_unit": "This study was opened with a target for each item set, and keeps it.",
            "max_participants": "Empty = no limit.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["target_judgments"].label = target_label(self.instance)
        if self.instance.target_unit == Experiment.TargetUnit.STIMULUS:
            del self.fields["target_unit"]


class RoundForm(forms.Form):
    """One further round."""

    kind = forms.ChoiceField(choices=Design.Kind.choices, label="Scheme")
    n_lists = forms.IntegerField(min_value=1, max_value=MOST_LISTS, label="Number of lists")
    items_per_paradigm = forms.IntegerField(
        min_value=1,
        required=False,
        label="Items per paradigm",
        help_text="For samples and single paradigms only.",
    )
    items = forms.ChoiceField(choices=ITEMS.items(), label="Which items")
    without = forms.CharField(
        required=False,
        label="Paradigms left out",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One per line: those that an earlier round has discarded.",
    )
    participants = forms.ChoiceField(
        choices=PARTICIPANTS.items(),
        label="Who takes part",
        help_text="People are known by the name in their link, or by the browser they used.",
    )
    target_judgments = forms.IntegerField(
        min_value=0,
        required=False,
        label="Target",
        help_text="Empty: as in the first round.",
    )
    max_participants = forms.IntegerField(
        min_value=1,
        required=False,
        label="Maximum number of participants of this round",
        help_text="Empty: as in the first round.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**63 - 1)

    def __init__(self, data: Any = None, *, study: Experiment, design_round: Round) -> None:
        self.study, self.round = study, design_round
        initial = {**design_round.as_dict(), "without": "\n".join(design_round.without)}
        super().__init__(data, initial=initial, prefix=f"round-{design_round.number}")
        self.fields["target_judgments"].label = target_label(study)

    @property
    def version(self) -> str:
        """Version of the round as it is stored."""
        return form_version(RoundForm(study=self.study, design_round=self.round))

    def clean_without(self) -> list[str]:
        """Names of paradigms of the study's materials."""
        return [line.strip() for line in self.cleaned_data["without"].splitlines() if line.strip()]

    def clean(self) -> dict[str, Any]:
        """Validate the round as the design does."""
        super().clean()
        cleaned = self.cleaned_data
        if not self.errors:
            try:
                checked_rounds([cleaned])
            except BadInput as error:
                raise ValidationError(str(error)[:1].upper() + str(error)[1:]) from None
        return cleaned
