"""Downloads of judgments: which rows and columns, and snippets that read the file in R and pandas."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.utils.datastructures import MultiValueDict

from experiments.models import Experiment, TrialKind
from judgments.frames.data_source import file_stem
from judgments.frames.listing import counted_judgments
from releases.exports.judgment_table import ALL_KINDS, DROP, MARK, table_columns
from releases.exports.snippets import judgment_snippets
from releases.gold.plans import NONE, find_plan
from releases.reports.forms import ExcludeForm
from releases.views.base import page, study_page

PLURALS = {
    TrialKind.TARGET: "targets",
    TrialKind.FILLER: "fillers",
    TrialKind.CATCH: "catch trials",
    TrialKind.PRACTICE: "practice trials",
    TrialKind.ANCHOR: "anchors",
}
OTHER_FILES = (
    ("contract", "Twelve columns of the file format for judgments, all kinds of trials"),
    ("all", "All columns of a judgment frame, all kinds of trials"),
    ("raw", "All that was shown and measured, all kinds of trials"),
    ("jspsych", "jsPsych’s column names, all kinds of trials"),
)


class DownloadForm(ExcludeForm):
    """Rows of the file for analysis."""

    field_order = ("kinds", "plan", "excluded", "steps")

    kinds = forms.MultipleChoiceField(
        choices=TrialKind.choices,
        required=False,
        label="Kinds of trials",
        widget=forms.CheckboxSelectMultiple,
        help_text="Only targets unless others are ticked.",
    )
    excluded = forms.ChoiceField(
        choices=[(MARK, "kept, marked in the column exclusion"), (DROP, "left out")],
        required=False,
        label="Excluded judgments are",
    )

    def choices(self) -> dict[str, Any]:
        """The choices as the file takes them; the default of each empty or invalid one."""
        data = getattr(self, "cleaned_data", {})
        kinds = data.get("kinds") or [TrialKind.TARGET]
        return {
            "exclude": self.exclude(),
            "kinds": ALL_KINDS if len(kinds) == len(TrialKind.values) else ",".join(kinds),
            "excluded": data.get("excluded") or MARK,
        }


@study_page
def downloads(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The choices, the files, and the snippets for the file as chosen."""
    is_chosen = request.GET.keys() - {"data"}
    form = DownloadForm(
        request.GET if is_chosen else MultiValueDict({"kinds": [TrialKind.TARGET]}), experiment=study
    )
    is_valid, choices = form.is_valid(), form.choices()
    counts = counts_by_kind(study)
    kinds = TrialKind.values if choices["kinds"] == ALL_KINDS else choices["kinds"].split(",")
    return page(
        request,
        study,
        "downloads",
        form=form,
        plan=find_plan(study, choices["exclude"]),
        query=urlencode(
            {
                **choices,
                "exclude": choices["exclude"] or NONE,
                **({"data": study.data} if study.data else {}),
            }
        ),
        is_marked=choices["excluded"] == MARK,
        included=[(label, n) for kind, label, n in counts if kind in kinds],
        left_out=[(label, n) for kind, label, n in counts if kind not in kinds and n],
        n_zeros=n_zeros(study, kinds),
        columns=table_columns(study),
        snippets=judgment_snippets(study, f"{file_stem(study)}-judgments.csv"),
        other_files=OTHER_FILES,
        has_workers=study.task == "forced_choice" and study.campaigns.filter(recruiter="mturk").exists(),
        status=200 if is_valid else 400,
    )


def n_zeros(study: Experiment, kinds: list[str]) -> int:
    """Number of magnitude estimates of zero, which have no logarithm; 0 of other tasks."""
    if study.task != "magnitude_estimation":
        return 0
    return counted_judgments(study).filter(trial__kind__in=kinds, value=0).count()


def counts_by_kind(study: Experiment) -> list[tuple[str, str, int]]:
    """Kind, label and number of judgments, in the order of the kinds."""
    rows = counted_judgments(study).order_by().values_list("trial__kind").annotate(Count("pk"))
    counts = dict(rows)
    return [(str(kind), PLURALS[TrialKind(kind)], counts.get(kind, 0)) for kind in TrialKind.values]
