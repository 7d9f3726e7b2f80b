"""Recruitment channels of a study: links, personal links, panels with their return links, and quotas."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.text import no_formula
from experiments.models import Campaign, Experiment
from experiments.pages.access import AuthenticatedRequest, audit, get_locked_study, get_study, may_edit
from experiments.pages.editing.conflicts import compare, form_version
from experiments.pages.forms import set_remark
from judgments.models import Session
from judgments.recruitment.panel import OUTCOMES, PANEL, PRESETS, read_options, shared_link
from judgments.recruitment.qr_codes import qr_svg
from judgments.recruitment.quotas import MAX_QUOTAS, checked_quotas, quota_counts
from judgments.sessions.arrival import MAX_VALUE_CHARACTERS, personal_link
from judgments.sessions.places import holds_place

State = Campaign.State
STATE_ACTIONS = {  # what a button does: states from which, the state to which, and its word in the history
    "start": ({State.DRAFT, State.PAUSED, State.FINISHED}, State.RUNNING, "channel opened"),
    "pause": ({State.RUNNING}, State.PAUSED, "channel paused"),
    "finish": ({State.RUNNING, State.PAUSED}, State.FINISHED, "channel closed"),
}
STATE_WORDS = {  # as the page calls a state, in the words of a study's states
    State.DRAFT: "draft",
    State.RUNNING: "open",
    State.PAUSED: "paused",
    State.FINISHED: "closed",
    State.CLOSED: "closed",
}
MAX_ROWS = 5_000  # of a list of personal links
LIST_SUFFIXES = (".csv", ".tsv", ".txt")
MAX_LIST_CHARACTERS = 1_000_000
MAX_CELL_CHARACTERS = 10_000
MAX_LIST_BYTES = 3_000_000  # below the limit of a request, so that the form can say what is wrong
BLANK_QUOTAS = 3
RESERVED_NAMES = {"new", "quotas"}


class ChannelForm(forms.Form):
    """A channel: its name in the link, its parameters and its return links."""

    name = forms.SlugField(
        max_length=100, label="Name", help_text="Ends the link: small letters, digits and hyphens."
    )
    places = forms.IntegerField(
        min_value=0,
        max_value=1_000_000,
        required=False,
        label="Most people over this channel",
        help_text="Empty = no limit but the study’s.",
    )
    id_parameter = forms.CharField(
        max_length=40,
        required=False,
        label="Parameter with the participant’s id",
        help_text="As the site writes it in the link, such as PID. The id is stored apart from the answers.",
    )
    submission_parameter = forms.CharField(
        max_length=40,
        required=False,
        label="Parameter with the id of the submission",
        help_text="Where the site has one for each visit, such as SESSION_ID.",
    )

    def __init__(self, *args: Any, study: Experiment, channel: Campaign | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.channel = study, channel
        for outcome, label in OUTCOMES.items():
            self.fields[f"return_{outcome}"] = forms.CharField(
                max_length=500,
                required=False,
                label=f"Return link: {label.lower()}",
                widget=forms.TextInput(attrs={"spellcheck": "false", "inputmode": "url"}),
            )
        self.fields[
            "return_complete"
        ].help_text = "An https address; {code}, {participant} and {session} are filled in. Empty: no button."

    @property
    def about(self) -> list[forms.BoundField]:
        """The channel itself."""
        return [self[name] for name in ("name", "places", "id_parameter", "submission_parameter")]

    @property
    def returns(self) -> list[forms.BoundField]:
        """Return links at the end of a session."""
        return [self[f"return_{outcome}"] for outcome in OUTCOMES]

    def clean_name(self) -> str:
        """Refuse a name that another channel of the study has."""
        name = str(self.cleaned_data["name"]).lower()
        if name in RESERVED_NAMES:
            raise ValidationError("This name is an address of the page itself; choose another one.")
        other_channels = Campaign.objects.filter(experiment=self.study, name=name)
        if self.channel is not None:
            other_channels = other_channels.exclude(pk=self.channel.pk)
        if other_channels.exists():
            raise ValidationError("This study has a channel with this name.")
        if self.channel is not None and name != self.channel.name and self.channel.sessions.exists():
            raise ValidationError(
                "People came over this link; a new name would break it. Add another channel."
            )
        return name

    def options(self, preset: str) -> dict[str, object]:
        """The settings as they are stored; raises ``BadInput``."""
        data = self.cleaned_data
        return read_options(
            preset=preset,
            id_parameter=data["id_parameter"].strip(),
            submission_parameter=data["submission_parameter"].strip(),
            returns={outcome: data[f"return_{outcome}"] for outcome in OUTCOMES},
        )


def initial_values(channel: Campaign) -> dict[str, Any]:
    """Initial values of the form of a channel."""
    options = channel.options
    return {
        "name": channel.name,
        "places": channel.places or None,
        "id_parameter": options.get("id_parameter", ""),
        "submission_parameter": options.get("submission_parameter", ""),
        **{f"return_{outcome}": channel.return_template(outcome) for outcome in OUTCOMES},
    }


class LinksForm(forms.Form):
    """Participants with personal links, as rows whose first column is the label."""

    labels = forms.CharField(
        required=False,
        max_length=MAX_LIST_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        label="One person a row",
        help_text="A label such as lab-01, or rows pasted from a spreadsheet: the first column is the label,"
        " which is stored apart from the answers; further columns (name, mail) only return in the file.",
    )
    file = forms.FileField(required=False, label="Or a CSV file", help_text="With one header row, in UTF-8.")
    until = forms.DateField(
        required=False,
        label="Last day to begin",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="In UTC. Whoever has begun by then may finish. Empty: while the study is open.",
    )

    def clean_until(self) -> Any:
        """Refuse a day in the past."""
        until = self.cleaned_data["until"]
        if until is not None and until < timezone.now().date():
            raise ValidationError("This day is over.")
        return until

    def clean(self) -> dict[str, Any]:
        """Read the rows of the file or the box."""
        super().clean()
        data = self.cleaned_data
        sent, header, place = data.get("labels") or "", ["participant"], "Row"
        if file := data.get("file"):
            place = f"{file.name}, row"
            if not str(file.name).lower().endswith(LIST_SUFFIXES):
                raise ValidationError(f"{file.name}: no CSV file. Save the list as CSV and send it again.")
            if file.size > MAX_LIST_BYTES:
                raise ValidationError(f"{file.name}: longer than {MAX_LIST_BYTES:,} bytes. Send it in parts.")
            try:
                sent = file.read().decode("utf-8-sig")
            except UnicodeDecodeError as error:
                where = error.object[: error.start].count(b"\n") + 1
                raise ValidationError(
                    f"{place} {where}: not UTF-8. Save it as “CSV UTF-8” and send it again."
                ) from None
        table = _table(sent)
        if file and table:
            (_, header), *table = table
        width = max((len(row) for _, row in table), default=1)
        header = [*header, *(f"column {column}" for column in range(len(header) + 1, width + 1))]
        if not table and not self.errors:
            raise ValidationError("Write at least one label, or choose a file.")
        if len(table) > MAX_ROWS:
            raise ValidationError(f"There are {len(table):,} rows; at most {MAX_ROWS:,} are possible.")
        people: dict[str, list[str]] = {}
        for number, row in table:
            if not row[0]:
                raise ValidationError(f"{place} {number}: no label in the first column. Write one.")
            if len(row[0]) > MAX_VALUE_CHARACTERS:
                raise ValidationError(
                    f"{place} {number}: the label is longer than {MAX_VALUE_CHARACTERS} characters."
                )
            if row[0].startswith(("{", "[", "<", "---")):
                raise ValidationError(
                    f"{place} {number}: “{row[0][:20]}” is no label, and the text no list of participants."
                )
            if people.setdefault(row[0], row) != row:
                raise ValidationError(
                    f"{place} {number}: another row has the label “{row[0]}”, too, and both would get the"
                    " same link. Tell them apart."
                )
        data["header"], data["table"] = header, list(people.values())
        return data


def _table(text: str) -> list[tuple[int, list[str]]]:
    """Rows with a cell that is not empty, each with its line, of a list, a CSV file or pasted cells."""
    first_line = text.strip().partition("\n")[0]
    delimiter = max("\t;,", key=first_line.count) if any(mark in first_line for mark in "\t;,") else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)  # lines may end with \r, too
    try:
        cells = [(rows.line_num, [cell.strip() for cell in row]) for row in rows]
    except csv.Error as error:  # a cell beyond the limit, such as one whose quotation mark is never closed
        raise ValidationError(
            f"Row {rows.line_num}: {error}. Close quotation marks, or remove them."
        ) from None
    # The csv module's own limit is of the process, and readers of other files raise it.
    for line, row in cells:
        if any(len(cell) > MAX_CELL_CHARACTERS for cell in row):
            raise ValidationError(
                f"Row {line}: a cell has more than {MAX_CELL_CHARACTERS:,} characters. Close quotation marks,"
                " or remove them."
            )
    return [(line, row) for line, row in cells if any(row)]


class QuotaForm(forms.Form):
    """Limit of participants with one answer."""

    question = forms.ChoiceField(required=False, label="Question")
    answer = forms.CharField(required=False, max_length=200, label="Answer or range")
    limit = forms.IntegerField(required=False, min_value=0, max_value=1_000_000, label="Most people")

    def __init__(self, *args: Any, study: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            set_remark(field, "")  # a quota without a question is left out, so none of them is required
        question = self.fields["question"]
        assert isinstance(question, forms.ChoiceField)
        questions = [(row["name"], row["label"]) for row in study.questionnaire]
        question.choices = [("", "no quota"), *questions]

    def clean(self) -> dict[str, Any]:
        """Refuse half a quota."""
        super().clean()
        data = self.cleaned_data
        if data.get("question") and (not data.get("answer") or data.get("limit") is None) and not self.errors:
            raise ValidationError("Give the answer and the number of people.")
        return data


QuotaFormSet = forms.formset_factory(QuotaForm, extra=BLANK_QUOTAS, max_num=MAX_QUOTAS)


@login_required
def channels(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Show the study's link, its channels with their counts, personal links and quotas."""
    study = get_study(request.user, slug)
    return _channels_page(request, study)


def _channels_page(
    request: HttpRequest,
    study: Experiment,
    *,
    links: LinksForm | None = None,
    quotas: Any = None,
    status: int = 200,
) -> HttpResponse:
    rows = [
        {
            "channel": channel,
            "state": STATE_WORDS[State(channel.state)],
            "link": shared_link(request, channel),
            "preset": _preset_label(channel),
        }
        for channel in list_channels(study)
    ]
    context = {
        "study": study,
        "page": "channels",
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "address": request.build_absolute_uri(f"/take/{study.link_slug}/"),
        "rows": rows,
        "presets": PRESETS,
        "links": links or LinksForm(),
        "quota_counts": quota_counts(study),
        "quotas": quotas or _quota_forms(study),
        "quota_version": form_version(quotas=study.quotas),
    }
    return render(request, "judgments/channels.html", context, status=status)


def list_channels(study: Experiment) -> Any:
    """Return the study's channels with participants by state; pilots and previews are left out."""
    people = Q(sessions__is_test=False)
    is_held = Q(
        sessions__in=Session.objects.filter(holds_place(timezone.now()), experiment=study, is_test=False)
    )
    is_over_quota = Q(sessions__events__kind="over_quota")
    status = Session.Status
    return (
        Campaign.objects.filter(experiment=study, recruiter=PANEL)
        .select_related("experiment")
        .annotate(
            n_held=Count("sessions", filter=is_held, distinct=True),
            n_complete=Count("sessions", filter=people & Q(sessions__status=status.COMPLETE), distinct=True),
            n_screened_out=Count(
                "sessions", filter=people & Q(sessions__status=status.SCREENED_OUT), distinct=True
            ),
            n_over_quota=Count("sessions", filter=people & is_over_quota, distinct=True),
            n_refused=Count("sessions", filter=people & Q(sessions__status=status.REFUSED), distinct=True),
        )
        .order_by("pk")
    )


def _preset_label(channel: Campaign) -> str:
    preset = PRESETS.get(str(channel.options.get("preset")))
    return preset.label if preset else "Another site"


def _quota_forms(study: Experiment, data: Any = None) -> Any:
    return QuotaFormSet(data, initial=study.quotas, form_kwargs={"study": study}, prefix="quota")


@login_required
@transaction.atomic
def add_channel(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Make a channel, filled in from a preset."""
    # Race: of two presses of the button, the second finds the name taken.
    is_sent = request.method == "POST"
    study = get_locked_study(request.user, slug) if is_sent else get_study(request.user, slug, editing=True)
    chosen = request.POST.get("preset") or request.GET.get("preset", "")
    preset = PRESETS.get(chosen)
    initial: dict[str, Any] = {"name": chosen if preset else "panel"}
    if preset:
        initial |= {
            "id_parameter": preset.id_parameter,
            "submission_parameter": preset.submission_parameter,
            **{f"return_{outcome}": template for outcome, template in preset.returns.items()},
        }
    form = ChannelForm(request.POST or None, initial=initial, study=study)
    if is_sent and form.is_valid():
        try:
            channel = create_channel(study, form, preset=chosen, by=request.user)
        except BadInput as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The channel {channel.name} is open. Paste its link into the site.")
            return redirect("study-channels", slug)
    context = {"study": study, "page": "channels", "form": form, "preset": preset, "preset_name": chosen}
    return render(request, "judgments/channel.html", context, status=422 if form.errors else 200)


def create_channel(study: Experiment, form: ChannelForm, *, preset: str, by: User) -> Campaign:
    """Store an open channel from a valid form; raises ``BadInput``."""
    options, places = form.options(preset), form.cleaned_data["places"] or 0
    channel = Campaign.objects.create(
        experiment=study,
        recruiter=PANEL,
        name=form.cleaned_data["name"],
        places=places,
        options=options,
        state=State.RUNNING,
        reward_minor=study.reward_minor,
        currency=study.currency,
    )
    audit(by, study, "channel added", name=channel.name, places=places, **options)
    return channel


def own_channel(study: Experiment, name: str) -> Campaign:
    return get_object_or_404(
        Campaign.objects.select_related("experiment"), experiment=study, recruiter=PANEL, name=name
    )


@login_required
@transaction.atomic
def channel(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponse:
    """Show a channel's settings; store others, unless another editor changed them meanwhile."""
    editing = request.method == "POST"
    study = get_locked_study(request.user, slug) if editing else get_study(request.user, slug)
    stored = own_channel(study, name)
    current = ChannelForm(initial=initial_values(stored), study=study, channel=stored)
    form, status = current, 200
    is_stale = False
    if editing:
        form = ChannelForm(request.POST, study=study, channel=stored)
        edits = compare(request.POST, current=[current], submitted=[form])
        is_stale = edits.is_stale
        if is_stale:
            form, status = ChannelForm(edits.data, study=study, channel=stored), 409
        elif form.is_valid() and _save_channel(request, stored, form):
            return redirect("study-channels", slug)
        else:
            status = 422
    preset = PRESETS.get(str(stored.options.get("preset")))
    context = {
        "study": study,
        "page": "channels",
        "form": form,
        "channel": stored,
        "preset": preset,
        "is_stale": is_stale,
        "version": form_version(current),
        "link": shared_link(request, stored),
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
    }
    return render(request, "judgments/channel.html", context, status=status)


def _save_channel(request: AuthenticatedRequest, stored: Campaign, form: ChannelForm) -> bool:
    """Store the settings of a channel; False with an error in the form."""
    try:
        is_changed = save_channel(stored, form, by=request.user)
    except BadInput as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, "Saved." if is_changed else "Nothing was changed, so nothing was saved.")
    return True


def save_channel(stored: Campaign, form: ChannelForm, *, by: User) -> bool:
    """Store the settings of a valid form with their history; False where nothing changes."""
    before = initial_values(stored)
    options = form.options(str(stored.options.get("preset", "")))
    stored.name, stored.places = form.cleaned_data["name"], form.cleaned_data["places"] or 0
    stored.options = options
    stored.save(update_fields=["name", "places", "options"])
    after = initial_values(stored)
    changed = {key: [before[key], after[key]] for key in after if before[key] != after[key]}
    if changed:
        values = {key: {"old": old, "new": new} for key, (old, new) in changed.items()}
        audit(by, stored.experiment, "channel changed", name=stored.name, values=values, **changed)
    return bool(changed)


@login_required
@require_POST
@transaction.atomic
def change_state(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponse:
    """Open, pause or close a channel; a second press changes nothing."""
    study = get_locked_study(request.user, slug)
    stored = own_channel(study, name)
    chosen = request.POST.get("action", "")
    if chosen not in STATE_ACTIONS:
        raise Http404("no such action")
    move_channel(stored, chosen, by=request.user)
    messages.success(request, f"The channel {stored.name} is {STATE_WORDS[State(stored.state)]}.")
    return redirect("study-channels", slug)


def move_channel(stored: Campaign, action: str, *, by: User) -> None:
    """Open, pause or close a channel of a locked study; a repetition changes nothing."""
    before, after, word = STATE_ACTIONS[action]
    if stored.state in before:
        values = {"state": {"old": stored.state, "new": after}}
        stored.state = after
        stored.save(update_fields=["state"])
        audit(by, stored.experiment, word, name=stored.name, values=values)


@login_required
@require_POST
@transaction.atomic
def save_quotas(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Store the quotas, unless another editor changed them meanwhile."""
    study = get_locked_study(request.user, slug)
    if request.POST.get("version") != form_version(quotas=study.quotas):
        messages.error(request, "Nothing was saved: another editor changed the quotas. They are shown below.")
        return redirect("study-channels", slug)
    formset = _quota_forms(study, request.POST)
    if not formset.is_valid():
        return _channels_page(request, study, quotas=formset, status=422)
    rows = [form.cleaned_data for form in formset if form.cleaned_data.get("question")]
    try:
        is_changed = store_quotas(study, rows, by=request.user)
    except BadInput as error:
        messages.error(request, str(error)[:1].upper() + str(error)[1:])
        return _channels_page(request, study, quotas=formset, status=422)
    if is_changed:
        messages.success(request, "Saved. Who would exceed a quota is returned before the first trial.")
    else:
        messages.success(request, "Nothing was changed, so nothing was saved.")
    return redirect("study-channels", slug)


def store_quotas(study: Experiment, rows: Sequence[Mapping[str, Any]], *, by: User) -> bool:
    """Replace the quotas of a locked study; False where nothing changes; raises ``BadInput``."""
    quotas = checked_quotas(study, rows)
    if quotas == study.quotas:
        return False
    audit(by, study, "quotas changed", before=study.quotas, after=quotas)
    study.quotas = quotas
    study.save(update_fields=["quotas"])
    return True


@login_required
@require_POST
def personal_links(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Signed links as CSV for a mail merge, one for each person."""
    study = get_study(request.user, slug, editing=True)
    form = LinksForm(request.POST, request.FILES)
    if not form.is_valid():
        return _channels_page(request, study, links=form, status=422)
    data = form.cleaned_data
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-links.csv"'
    writer = csv.writer(response, lineterminator="\n")
    writer.writerow([*map(no_formula, data["header"]), "link"])
    for row in data["table"]:
        link = request.build_absolute_uri(personal_link(study, row[0], until=data["until"]))
        cells = [*row, *[""] * (len(data["header"]) - len(row))]
        writer.writerow([*map(no_formula, cells), link])
    until = data["until"].isoformat() if data["until"] else ""
    audit(request.user, study, "personal links downloaded", n_links=len(data["table"]), until=until)
    return response


@login_required
def qr_code(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The study's link, or that of a channel, as a QR code in SVG."""
    study = get_study(request.user, slug)
    name = request.GET.get("channel", "")
    address = request.build_absolute_uri(f"/take/{study.link_slug}/")
    if name:
        address = shared_link(request, own_channel(study, name)).partition("?")[0]
    # The drawing holds the squares of the code, no text of the request.
    response = HttpResponse(qr_svg(address), content_type="image/svg+xml")  # nosemgrep: request-to-html
    disposition = "attachment" if "download" in request.GET else "inline"
    response["Content-Disposition"] = f'{disposition}; filename="{study.slug}-link.svg"'
    return response
