"""Forms for uploading materials and saying which column is which."""

from collections.abc import Sequence
from typing import Any

from django import forms

from experiments.materials.detect import FORMATS
from experiments.materials.schema import PAIR_FIELDS, SENTENCE_FIELDS, WIDE_FIELDS, Field
from experiments.pages.forms import language_field

FORMAT_WORDS = {
    "auto": "Look at the files",
    "blimp": "BLiMP: a pair per line, JSON lines",
    "table": "Table of sentences or pairs",
    "climp": "CLiMP: sentences in turn, good and bad",
    "li-adger": "LI-Adger: sentences and pairs",
}


class ManyFilesInput(forms.ClearableFileInput):
    """A file input for several files."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several files at once."""

    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Check each file."""
        files = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class AboutForm(forms.Form):
    """What a researcher says of a material set."""

    name = forms.CharField(max_length=200, help_text="Under this name you choose the materials for a study.")
    language = language_field()
    source = forms.CharField(max_length=500, required=False, help_text="Where they were published.")
    licence = forms.CharField(max_length=200, required=False, help_text="For example CC BY 4.0.")


class UploadForm(AboutForm):
    """Files with a name."""

    files = ManyFilesField(help_text="CSV, TSV, JSONL or Parquet. Files that belong together, together.")
    field_order = ["files", "name", "language", "source", "licence"]


class PreviewForm(AboutForm):
    """How the files are read, and the name again."""

    format = forms.ChoiceField(choices=[(name, FORMAT_WORDS[name]) for name in FORMATS])
    encoding = forms.CharField(max_length=30, required=False, help_text="Empty: the encoding detected above.")


class MappingForm(forms.Form):
    """Which column of the file is which of ours."""

    def __init__(self, *args: Any, columns: Sequence[str], understood: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, prefix="map", **kwargs)
        choices = [("", "not in the files"), *((name, name) for name in columns)]
        for name, field in meant_fields(understood).items():
            self.fields[name] = forms.ChoiceField(
                choices=choices,
                required=False,
                initial=understood.get(name, ""),
                label=name.replace("_", " "),
                help_text=field.meaning,
            )


def meant_fields(understood: dict[str, str]) -> dict[str, Field]:
    """The fields that the files' kind of table can have."""
    if "good" in understood:
        return WIDE_FIELDS
    if "good_id" in understood:
        return {**SENTENCE_FIELDS, **PAIR_FIELDS}
    if "sentence" in understood:
        return SENTENCE_FIELDS
    return {**WIDE_FIELDS, **SENTENCE_FIELDS}
