"""Forms for uploading judgments and saying how they are read."""

from collections.abc import Sequence
from typing import Any

from django import forms

from experiments.models import MaterialSet
from judgments.sources import FORMATS
from judgments.sources.scales import TASKS
from judgments.sources.table_fields import TABLE_FIELDS

FORMAT_WORDS = {
    "table": "Table: one judgment per row",
    "mturk-batch": "MTurk batch results: forced choice",
    "pcibex": "PCIbex: raw results",
    "jspsych": "jsPsych: JSON or CSV",
}
#: Formats whose columns can be mapped.
MAPPED = ("table", "jspsych")


class ReadingForm(forms.Form):
    """Which study, which materials, and how the file is read."""

    experiment = forms.CharField(
        label="Study", max_length=200, help_text="A study of yours, or the name of a new one."
    )
    format = forms.ChoiceField(choices=[(name, FORMAT_WORDS[name]) for name in FORMATS], initial="table")
    materials = forms.ModelChoiceField(
        MaterialSet.objects.none(),
        required=False,
        empty_label="the file's own sentences",
        help_text="Stored materials to which the rows are joined by id, item or text.",
    )

    def __init__(self, *args: Any, user, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["materials"].queryset = MaterialSet.objects.visible_to(user)

    def chosen(self) -> dict[str, Any]:
        """What was chosen, as it is kept with the upload."""
        materials = self.cleaned_data["materials"]
        kept = {name: value for name, value in self.cleaned_data.items() if name != "file"}
        return {**kept, "materials": materials.pk if materials else None}


class UploadForm(ReadingForm):
    """A file and its study."""

    file = forms.FileField(help_text="CSV, TSV (also packed as .gz), JSON, JSONL or Parquet.")
    field_order = ["file", "experiment", "format", "materials"]


class PreviewForm(ReadingForm):
    """Everything that can be said about a file."""

    task = forms.ChoiceField(
        choices=[("", "as detected"), *((name, name.replace("_", " ")) for name in TASKS)], required=False
    )
    scale_low = forms.FloatField(label="Lowest point", required=False, help_text="Empty: as detected.")
    scale_high = forms.FloatField(label="Highest point", required=False, help_text="Empty: as detected.")
    encoding = forms.CharField(max_length=30, required=False, help_text="Empty: as detected.")


class MappingForm(forms.Form):
    """Which column of the file is which of ours."""

    def __init__(self, *args: Any, columns: Sequence[str], understood: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, prefix="map", **kwargs)
        for name, field in TABLE_FIELDS.items():
            names = dict.fromkeys([*columns, *([understood[name]] if name in understood else [])])
            self.fields[name] = forms.ChoiceField(
                choices=[("", "not in the file"), *((column, column) for column in names)],
                required=False,
                initial=understood.get(name, ""),
                label=name.replace("_", " "),
                help_text=field.meaning,
            )
