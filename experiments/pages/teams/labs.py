"""Labs: their members, roles and studies, which move into and out of them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import capfirst, slugify
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.power.money import format_money, minor_units
from experiments.intake.uploads import upload_quota
from experiments.models import AuditEntry, Experiment, Lab, LabMembership
from experiments.models.lab import check_pay
from experiments.pages.access import AuthenticatedRequest, get_lab, get_study
from experiments.pages.forms import ask, is_sure
from experiments.pages.teams import labs as steps
from experiments.pages.teams.invitations import invitations_context
from experiments.teams.members import MANAGER, add_member, is_last, note, only_owners, remove_member
from experiments.teams.roles import lab_role, manages

SHOWN_ENTRIES = 50


MOST_LABS = 20  # that one user may create
LONGEST_SLUG = 80


class LabForm(forms.Form):
    """The name of a lab."""

    name = forms.CharField(max_length=120, label="Name of the lab", strip=True)


class PaymentLimitsForm(forms.Form):
    """Most for one payment, by currency."""

    limits = forms.CharField(
        max_length=300,
        required=False,
        label="Most for one payment to one participant",
        help_text="One for each currency in which the lab pays, such as 20 GBP, 25 USD. Empty: no limit.",
    )

    def clean_limits(self) -> dict[str, int]:
        """Parse the amounts."""
        limits: dict[str, int] = {}
        for text in filter(None, (part.strip() for part in self.cleaned_data["limits"].split(","))):
            amount, _, currency = text.rpartition(" ")
            try:
                minor = minor_units(amount, currency.upper())
            except BadInput as error:
                reason = error.message if amount else "the amount or the currency is missing."
                raise forms.ValidationError(f"“{text}”: {reason} Write for example 20 GBP.") from None
            if limits.setdefault(currency.upper(), minor) != minor:
                raise forms.ValidationError(f"{currency.upper()} has two amounts.")
        return limits


class LabMemberForm(forms.Form):
    """Add a member to the lab."""

    username = forms.CharField(max_length=150, label="User name", strip=True)
    role = forms.ChoiceField(
        choices=LabMembership.Role.choices,
        initial=LabMembership.Role.VIEWER,
        help_text="In all studies of the lab: a viewer reads, an editor changes them and decides on people "
        "and money, a manager is an owner of each, and changes the lab.",
    )


@login_required
def labs(request: AuthenticatedRequest) -> HttpResponse:
    """The user's labs, and a form for another one."""
    form = LabForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            lab = steps.create_lab(request.user, form.cleaned_data["name"])
        except BadInput as error:
            form.add_error("name", capfirst(str(error)))
        else:
            messages.success(request, f"{lab.name} is there, and you manage it. Add members and studies.")
            return redirect("lab", lab.slug)
    # Counted by ids: the joins of members and studies multiply each other.
    rows = Lab.objects.filter(pk__in=Lab.objects.visible_to(request.user).values("pk")).annotate(
        n_members=Count("memberships", distinct=True), n_studies=Count("studies", distinct=True)
    )
    roles = dict(LabMembership.objects.filter(user=request.user).values_list("lab", "role"))
    context = {
        "section": "labs",
        "form": form,
        "labs": [(row, roles.get(row.pk, "administrator")) for row in rows],
    }
    return render(request, "experiments/labs.html", context)


@login_required
def lab(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Members, studies and history of a lab; managers add members and change roles."""
    row = get_lab(request.user, slug, managing=request.method == "POST")
    form = LabMemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            member = add_member(
                row, form.cleaned_data["username"], role=form.cleaned_data["role"], by=request.user
            )
        except BadInput as error:
            form.add_error("username", capfirst(str(error)))
        else:
            messages.success(request, f"{member.user} is now {member.get_role_display()} of this lab.")
            return redirect("lab", slug)
    return render(request, "experiments/lab.html", lab_context(request, row, form=form))


def lab_context(request: AuthenticatedRequest, row: Lab, **forms_of_page: forms.Form) -> dict[str, Any]:
    """Context of a lab's page; forms with errors replace empty ones."""
    role = lab_role(request.user, row)
    is_manager = manages(request.user, row)
    return {
        "section": "labs",
        "lab": row,
        "form": LabMemberForm(),
        "name_form": LabForm(initial={"name": row.name}),
        "limits_form": PaymentLimitsForm(initial={"limits": format_limits(row.payment_limits)}),
        "members": row.memberships.select_related("user"),
        "studies": row.studies.order_by("title", "pk"),
        "entries": row.audit.select_related("user")[:SHOWN_ENTRIES],
        "is_manager": is_manager,
        "quota": upload_quota(request.user, row),
        "may_add_studies": role in LabMembership.Role.editing(),
        **(invitations_context(request, row) if is_manager else {}),
        **forms_of_page,
    }


@login_required
@require_POST
def rename(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Rename a lab."""
    row = get_lab(request.user, slug, managing=True)
    form = LabForm(request.POST)
    if not form.is_valid():
        return render(request, "experiments/lab.html", lab_context(request, row, name_form=form), status=422)
    if steps.rename_lab(row, form.cleaned_data["name"], by=request.user):
        messages.success(request, "Saved.")
    return redirect("lab", slug)


@login_required
@require_POST
def limit_payments(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Set the limits of single payments."""
    row = get_lab(request.user, slug, managing=True)
    form = PaymentLimitsForm(request.POST)
    if not form.is_valid():
        context = lab_context(request, row, limits_form=form)
        return render(request, "experiments/lab.html", context, status=422)
    if steps.set_payment_limits(row, form.cleaned_data["limits"], by=request.user):
        messages.success(request, "Saved.")
    return redirect("lab", slug)


@login_required
@require_POST
def delete(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Delete a lab without studies."""
    row = get_lab(request.user, slug, managing=True)
    if not is_sure(request):
        return ask(
            request,
            f"Delete the lab {row.name}?",
            "Its members lose their roles in it. Studies and accounts stay.",
            yes="Delete it",
            no="Keep it",
            back=reverse("lab", args=[slug]),
            section="labs",
        )
    try:
        steps.delete_lab(row, by=request.user)
    except BadInput as error:
        messages.error(request, capfirst(str(error)))
        return redirect("lab", slug)
    messages.success(request, f"The lab {row.name} is deleted.")
    return redirect("labs")


@login_required
@require_POST
def remove(request: AuthenticatedRequest, slug: str, member_id: int) -> HttpResponse:
    """Remove a member; members may remove themselves, managers anybody."""
    row = get_lab(request.user, slug)
    member = get_object_or_404(row.memberships.select_related("user"), pk=member_id)
    if member.user == request.user and not is_sure(request) and not is_last(row, member):
        return ask(
            request,
            f"Leave {row.name}?",
            "You will not see its studies any more, apart from those with yourself as a member.",
            yes="Leave it",
            no="Stay",
            back=reverse("lab", args=[slug]),
            section="labs",
        )
    try:
        remove_member(row, member, by=request.user)
    except BadInput as error:
        messages.error(request, capfirst(str(error)))
    else:
        messages.success(request, f"{member.user} no longer belongs to this lab.")
    return redirect("lab", slug) if lab_role(request.user, row) else redirect("labs")


@login_required
@require_POST
def move_study(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Move a study into a lab of the user's, or out of its lab."""
    study = get_study(request.user, slug, editing=True)
    name = request.POST.get("lab", "")
    if study.lab and study.lab.slug == name:
        return redirect("study-team", slug)
    target = get_lab(request.user, name) if name else None
    if study.lab and not is_sure(request):
        return ask(
            request,
            f"Move {study.title} out of {study.lab}?",
            "Members of the lab who are not members of the study will not see it any more.",
            yes="Move it",
            no="Leave it there",
            back=reverse("study-team", args=[slug]),
            hidden={"lab": name},
            study=study,
            page="team",
        )
    try:
        if steps.move_to_lab(study, target, by=request.user):
            messages.success(request, f"The study belongs to {target or 'no lab'} now.")
    except BadInput as error:
        messages.error(request, capfirst(str(error)))
    return redirect("study-team", slug)


@transaction.atomic
def create_lab(user: User, name: str) -> Lab:
    """Create a lab with the user as its manager."""
    if AuditEntry.objects.filter(user=user, action="lab created").count() >= MOST_LABS:
        raise BadInput(f"you have created {MOST_LABS} labs.", remedy="Ask an administrator for more.")
    lab = Lab.objects.create(name=name, slug=_free_slug(name))
    LabMembership.objects.create(lab=lab, user=user, role=MANAGER)
    note(lab, user, "lab created", name=name)
    return lab


def _free_slug(name: str) -> str:
    base = slugify(name)[:LONGEST_SLUG].strip("-") or "lab"
    taken = set(Lab.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    if base not in taken:
        return base
    return next(slug for n in range(2, len(taken) + 3) if (slug := f"{base}-{n}") not in taken)


@transaction.atomic
def rename_lab(lab: Lab, name: str, *, by: User) -> bool:
    """Rename a lab; its address stays. False where it has that name."""
    only_owners(lab, by)
    locked = Lab.objects.select_for_update().get(pk=lab.pk)
    if locked.name == name:
        return False
    note(locked, by, "lab renamed", values={"name": {"old": locked.name, "new": name}})
    locked.name = lab.name = name
    locked.save(update_fields=["name"])
    return True


def format_limits(limits: dict[str, int]) -> str:
    """Format limits of payments as the form reads them."""
    return ", ".join(format_money(limits[currency], currency) for currency in sorted(limits))


@transaction.atomic
def set_payment_limits(lab: Lab, limits: dict[str, int], *, by: User) -> bool:
    """Set the most for one payment, by currency; False where nothing changes."""
    only_owners(lab, by)
    locked = Lab.objects.select_for_update().get(pk=lab.pk)
    if locked.payment_limits == limits:
        return False
    old, new = format_limits(locked.payment_limits), format_limits(limits)
    note(locked, by, "payment limits changed", values={"payment limits": {"old": old, "new": new}})
    locked.payment_limits = lab.payment_limits = limits
    locked.save(update_fields=["payment_limits"])
    return True


@transaction.atomic
def delete_lab(lab: Lab, *, by: User) -> None:
    """Delete a lab without studies; its history stays for administrators."""
    only_owners(lab, by)
    locked = Lab.objects.select_for_update().get(pk=lab.pk)
    if locked.studies.exists():
        raise BadInput("the lab has studies.", remedy="Move them out of it first.")
    note(locked, by, "lab deleted", name=locked.name)
    locked.delete()


@transaction.atomic
def move_to_lab(study: Experiment, lab: Lab | None, *, by: User) -> bool:
    """Move a study into a lab, or out of its lab; False where it is there already.

    Only owners of the study may, into labs where they are manager or editor. A study keeps its own members,
    an owner among them, so that leaving a lab leaves nothing without one.
    """
    # Race: two moves at once would note the wrong lab as the earlier one.
    locked = Experiment.objects.select_for_update(of=("self",)).select_related("lab").get(pk=study.pk)
    only_owners(locked, by)
    earlier = locked.lab
    if earlier == lab:
        return False
    if lab is not None and lab_role(by, lab) not in LabMembership.Role.editing():
        raise PermissionDenied("Only a manager or an editor of a lab adds studies to it.")
    if locked.reward_minor:
        check_pay(lab, locked.reward_minor, locked.currency)
    locked.lab = study.lab = lab
    locked.save(update_fields=["lab"])
    change = {"lab": {"old": str(earlier or ""), "new": str(lab or "")}}
    note(locked, by, "moved to a lab" if lab else "moved out of its lab", values=change)
    for row, action in ((earlier, "study moved out"), (lab, "study moved in")):
        if row is not None:
            note(row, by, action, study=locked.slug)
    return True
