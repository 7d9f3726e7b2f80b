"""Words of researchers beside the lexicon of the platform: add, check line by line, share."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.generation.lexicon import languages, read_lexicon
from experiments.generation.lexicon.extension import FORMS, own_rows
from experiments.generation.pages.library import ShareForm, count_check, share_row
from experiments.generation.stored.library import may_change, owns
from experiments.generation.stored.word_lists import (
    MAX_CHARACTERS,
    NAME,
    WordFaults,
    delete_words,
    read_words,
    save_words,
)
from experiments.models import WordList
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import ask, is_sure, paginate

PER_PAGE = 50
BEGINNING = """lemma,category,class,frame,subject,object,pl,s,past,participle,ing
"""


class WordsForm(forms.Form):
    """A table of words, and where they come from."""

    name = forms.RegexField(
        NAME.pattern + r"\Z",
        label="Name of the table",
        max_length=71,
        help_text="Letters, digits, - and _; messages name it.",
        error_messages={"invalid": "Write letters, digits, - and _, a letter first."},
    )
    language = forms.ChoiceField()
    source = forms.CharField(
        max_length=500, help_text="Where the words come from, such as a word list with its year."
    )
    licence = forms.CharField(max_length=200, help_text="Of that source, such as CC BY-SA 4.0, or own work.")
    text = forms.CharField(
        label="Rows",
        required=False,
        max_length=MAX_CHARACTERS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "wrap": "off"}),
        help_text="CSV: lemma, category, the columns of the lexicon that a word needs, and its forms "
        f"({', '.join(FORMS)}) where the lexicon does not have them.",
    )
    file = forms.FileField(
        required=False, label="Or a file", help_text="A .csv in UTF-8 takes the place of the rows."
    )

    def __init__(self, *args: Any, word_list: WordList | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["language"]
        assert isinstance(field, forms.ChoiceField)
        tags = [word_list.language] if word_list else languages()
        field.choices = [(tag, tag) for tag in tags]

    def clean(self) -> dict[str, Any]:
        """Take the content of an uploaded file as the rows."""
        data = super().clean() or self.cleaned_data
        file = data.pop("file", None)
        if file is not None and file.size > 4 * MAX_CHARACTERS:
            self.add_error("file", f"{file.size:,} bytes. At most {4 * MAX_CHARACTERS:,}.")
        elif file is not None:
            try:
                data["text"] = file.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("file", f"{file.name}: not UTF-8. Save it as UTF-8.")
        return data


def get_words(user: User, pk: int, *, editing: bool = False) -> WordList:
    """Return a list: 404 for strangers, 403 for viewers who would change it."""
    row = get_object_or_404(WordList.objects.visible_to(user).select_related("owner", "lab", "study"), pk=pk)
    if editing and not may_change(user, row):
        raise PermissionDenied("Viewers do not change words.")
    return row


@login_required
def new(request: AuthenticatedRequest) -> HttpResponse:
    """Add a table of words."""
    return _edit_form(request, None)


@login_required
def edit(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Save the next version of a table."""
    return _edit_form(request, get_words(request.user, pk, editing=True))


def _edit_form(request: AuthenticatedRequest, row: WordList | None) -> HttpResponse:
    names = ("name", "language", "source", "licence")
    initial: dict[str, Any] = {"text": BEGINNING}
    if row is not None:
        initial = {name: getattr(row, name) for name in names} | {"text": row.newest.text}
    form = WordsForm(request.POST or None, request.FILES or None, word_list=row, initial=initial)
    faults: list[BadInput] = []
    if request.method == "POST" and form.is_valid():
        based_on = request.POST.get("based_on", "")
        try:
            count_check(request.user)
            version = save_words(
                request.user,
                word_list=row,
                based_on=int(based_on) if based_on.isdecimal() and len(based_on) < 6 else None,
                **form.cleaned_data,
            )
        except WordFaults as error:
            faults = error.faults
        except BadInput as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{version.n_rows:,} rows are saved as version {version.number}.")
            return redirect("words", version.word_list_id)
    context = {
        "section": "materials",
        "form": form,
        "words": row,
        "faults": faults,
        "based_on": row.newest.number if row else "",
    }
    status = 422 if faults or form.errors else 200
    return render(request, "experiments/words_edit.html", context, status=status)


@login_required
def words(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """One table: its rows as the lexicon reads them, source, licence and versions."""
    row = get_words(request.user, pk)
    lexemes, faults = own_rows(read_words(row), read_lexicon(row.language))
    context = {
        "section": "materials",
        "words": row,
        "version": row.newest,
        "versions": row.versions.select_related("saved_by").defer("text"),
        "page_of": paginate(request, lexemes, most=PER_PAGE),
        "n_rare": sum(lexeme.first("band") == "rare" for lexeme in lexemes),
        "faults": faults,
        "may_edit": may_change(request.user, row),
        "owns": owns(request.user, row),
        "share_form": ShareForm(user=request.user, row=row),
    }
    return render(request, "experiments/words.html", context)


@login_required
@require_POST
def share_words(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Share a table with a lab or with the team of a study."""
    share_row(request, get_words(request.user, pk))
    return redirect("words", pk)


@login_required
@require_POST
def delete(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Delete a table of words."""
    row = get_words(request.user, pk)
    if not owns(request.user, row):
        raise PermissionDenied("Only its owner deletes words.")
    if not is_sure(request):
        return ask(
            request,
            f"Delete {row.name}?",
            "Its versions are deleted permanently. Paradigms that need its words find them no more.",
            yes="Delete it",
            no="Keep it",
            back=reverse("words", args=[row.pk]),
            section="materials",
        )
    delete_words(row, request.user)
    messages.success(request, f"{row.name} is deleted.")
    return redirect("lexicon")
