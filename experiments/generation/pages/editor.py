"""The editor of paradigms: the text with what the linter finds in it, and examples, while it is written."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.generation.pages.library import another_seed, count_check, get_paradigm, read_seed
from experiments.generation.stored.library import (
    MAX_CHARACTERS,
    check,
    copy_text,
    own_names,
    read_language,
    save_paradigm,
    starting_text,
)
from experiments.generation.stored.word_lists import lexicon_for
from experiments.models import OwnParadigm
from experiments.pages.access import AuthenticatedRequest

BEGINNING = """format = 1
uid = "my_paradigm"
language = "en"
phenomenon = "subject_verb_agreement"
field = "morphology"
definition = "The finite verb agrees with its subject."
source = ""

[draw]
n = ["sg", "pl"]

[slots]
head = { category = "noun", where = { class = "person", count = "count" }, form = "$n" }
be = { category = "aux", where = { lemma = "be" }, form = "present.$n" }
adj = { category = "adj", where = { type = "predicative", of = "person" } }
time = { words = ["today", "tonight"] }

[[frames]]
good = "the {head} {be} {adj}."

[[frames]]
good = "{time} the {head} {be} {adj}."

[contrast]
form = { be = "present.!$n" }
"""


@login_required
def new(request: AuthenticatedRequest) -> HttpResponse:
    """Write a paradigm, from a small example or from a copy of another (``?from=en:wh_island``)."""
    if request.method == "POST":
        return _save(request, None)
    text = BEGINNING
    if (address := request.GET.get("from", "")) and (source := starting_text(address, request.user)):
        text = copy_text(source, own_names(request.user))
    return _page(request, text, None)


@login_required
def edit(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Write the next version of an own paradigm, from the newest or an earlier one (``?version=2``)."""
    row = get_paradigm(request.user, pk, editing=True)
    if request.method == "POST":
        return _save(request, row)
    number = request.GET.get("version", "")
    earlier = (
        row.versions.filter(number=int(number)).first() if number.isdecimal() and len(number) < 6 else None
    )
    return _page(request, (earlier or row.newest).text, row)


def _save(request: AuthenticatedRequest, row: OwnParadigm | None) -> HttpResponse:
    """Save, or check only; the text stays in the editor where it is refused."""
    try:
        text = _sent_text(request)
    except BadInput as error:
        return _page(request, request.POST.get("text", ""), row, problem=str(error), status=422)
    if "check" in request.POST:
        return _page(request, text, row)
    based_on = request.POST.get("based_on", "")
    try:
        count_check(request.user)
        version = save_paradigm(
            request.user, text, paradigm=row, based_on=int(based_on) if based_on.isdecimal() else None
        )
    except BadInput as error:
        return _page(request, text, row, problem=str(error), status=422)
    errors = (
        f" It has {version.n_errors} errors, so nothing is drawn from it yet." if version.n_errors else ""
    )
    messages.success(request, f"Saved as version {version.number} of {version.paradigm}.{errors}")
    return redirect("own-paradigm", version.paradigm_id)


def _sent_text(request: AuthenticatedRequest) -> str:
    """Return the text of an uploaded file, or else that of the editor."""
    file = request.FILES.get("file")
    if file is None:
        text: str = request.POST.get("text", "").replace("\r\n", "\n")
    else:
        if (file.size or 0) > 4 * MAX_CHARACTERS:
            raise BadInput(f"{file.name}: {file.size:,} bytes.", remedy=f"At most {4 * MAX_CHARACTERS:,}.")
        try:
            text = file.read().decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            raise BadInput(f"{file.name}: the text is not UTF-8.", remedy="Save it as UTF-8.") from None
    if "\0" in text:
        raise BadInput("the text has a NUL character.", remedy="Save the file as plain text in UTF-8.")
    return text


def _page(
    request: AuthenticatedRequest, text: str, row: OwnParadigm | None, *, problem: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "section": "materials",
        "paradigm": row,
        "based_on": request.POST.get("based_on") or (row.newest.number if row else ""),
        "text": text,
        "problem": capfirst(problem),
        "most": MAX_CHARACTERS,
        **_report(request, text, row),
    }
    return render(request, "experiments/paradigm_editor.html", context, status=status)


def _report(request: AuthenticatedRequest, text: str, row: OwnParadigm | None) -> dict[str, Any]:
    """Findings of the linter in the text, with examples of the seed."""
    seed = read_seed(request)
    facts: dict[str, Any] = {"seed": seed, "another_seed": another_seed()}
    try:
        count_check(request.user)
        report = check(text, lexicon=lexicon_for(row or request.user, read_language(text)), seed=seed)
    except BadInput as error:
        return facts | {"refused": capfirst(str(error))}
    return facts | {"report": report}


@login_required
@require_POST
def check_text(request: AuthenticatedRequest) -> HttpResponse:
    """Findings of the linter in the text of the editor, as a part of its page."""
    pk = request.POST.get("paradigm", "")
    row = get_paradigm(request.user, int(pk)) if pk.isdecimal() and len(pk) < 12 else None
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return render(request, "experiments/_paradigm_check.html", _report(request, text, row))
