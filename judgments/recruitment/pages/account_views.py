"""Accounts of recruitment platforms: connect, test, replace the token, remove."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from analysis.errors import BadInput
from analysis.power.money import format_money
from experiments.models import Experiment, Mode, PlatformAccount
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit
from judgments.recruitment import credentials
from judgments.recruitment.pages.campaign_access import action, mode_note, sentence
from judgments.recruitment.prolific import webhooks
from judgments.recruitment.recruiter import Money, adapter, platform_label

CURRENCIES = {"prolific": ("GBP", "USD"), "mturk": ("USD",)}
WHERE = {  # where a person gets a token on the platform's own site
    "prolific": "On Prolific: your workspace, Settings, Go to API token page, Create API token. It is"
    " shown once there; it has all permissions of your account.",
    "mturk": "In the AWS console: IAM, Users, Security credentials, Create access key, for a user with the"
    " policy AmazonMechanicalTurkFullAccess.",
}


class AccountForm(forms.Form):
    """A new account: its label, mode, currency and secrets, which are never shown again."""

    label = forms.CharField(max_length=100, label="Name of the account", help_text="For you and your team.")
    mode = forms.ChoiceField(choices=Mode.choices, initial=Mode.TEST, widget=forms.RadioSelect, label="Mode")
    currency = forms.ChoiceField(label="Currency of the workspace")

    def __init__(self, *args: Any, platform: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.platform = platform
        self.fields["label"].initial = platform_label(platform)
        mode, currency = self.fields["mode"], self.fields["currency"]
        has_sandbox = platform == "mturk" or adapter(platform).has_sandbox
        currencies = CURRENCIES.get(platform) or adapter(platform).currencies
        assert isinstance(mode, forms.ChoiceField)
        assert isinstance(currency, forms.ChoiceField)
        mode.choices = [
            (Mode.TEST.value, "Sandbox" if has_sandbox else "Test: nothing is published or paid"),
            (Mode.LIVE.value, "Live: real participants, real money"),
        ]
        currency.choices = [(code, code) for code in currencies]
        if len(currencies) == 1:
            currency.widget, currency.initial = forms.HiddenInput(), currencies[0]
        _add_secret_fields(self, platform)

    def secrets(self) -> dict[str, str]:
        """The secrets that were typed in."""
        return _secrets(self.platform, self.cleaned_data)


class TokenForm(forms.Form):
    """Other secrets for an account."""

    def __init__(self, *args: Any, platform: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _add_secret_fields(self, platform)


def _add_secret_fields(form: forms.Form, platform: str) -> None:
    secrets = credentials.platform_secrets()[platform]
    for name, label in secrets.items():
        form.fields[name] = forms.CharField(
            label=label,
            max_length=credentials.LONGEST_SECRET,
            widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        )
    where = WHERE.get(platform) or adapter(platform).secrets_help
    help_text = f"{where} Stored encrypted; only its last 4 characters are shown.".strip()
    form.fields[next(iter(secrets))].help_text = help_text


def _secrets(platform: str, values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(values.get(name, "")) for name in credentials.platform_secrets()[platform]}


def _page(
    request: AuthenticatedRequest, study: Experiment, *, form: AccountForm | None = None, status: int = 200
) -> HttpResponse:
    accounts = credentials.usable_accounts(study).select_related("owner")
    rows = [
        {
            "account": account,
            "platform": platform_label(account.platform),
            "mode": mode_note(account),
            "is_own": account.owner_id == request.user.pk,
            "has_events": bool(account.options.get("subscriptions")),
            "may_have_events": account.platform == "prolific",
            "tokens": TokenForm(platform=account.platform, auto_id=f"id_{account.pk}_%s"),
        }
        for account in accounts
    ]
    forms_by_platform = {
        platform: form
        if form is not None and form.platform == platform
        else AccountForm(platform=platform, auto_id=f"id_{platform}_%s")
        for platform in credentials.platform_secrets()
    }
    context = {
        "study": study,
        "page": "campaigns",
        "rows": rows,
        "new": [
            {"label": platform_label(name), "name": name, "form": form, "plugin": adapter(name).plugin}
            for name, form in forms_by_platform.items()
        ],
        "attachable": credentials.attachable(study, by=request.user),
        "may_edit": may_edit(request.user, study),
    }
    return render(request, "judgments/recruitment/accounts.html", context, status=status)


@login_required
def accounts(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """List the accounts that the study may use."""
    return _page(request, get_study(request.user, slug))


@sensitive_post_parameters()  # all: plugins name secrets of their own
@login_required
def add(request: AuthenticatedRequest, slug: str, platform: str) -> HttpResponse:
    """Store an account and test its token."""
    study = get_study(request.user, slug, editing=True)
    if request.method != "POST":
        return redirect("study-accounts", slug)
    if platform not in credentials.platform_secrets():
        raise Http404("no such platform")
    form = AccountForm(request.POST, platform=platform, auto_id=f"id_{platform}_%s")
    if not form.is_valid():
        return _page(request, study, form=form, status=422)
    data = form.cleaned_data
    try:
        account = credentials.add_account(
            study,
            platform=platform,
            label=data["label"],
            secrets=form.secrets(),
            by=request.user,
            mode=data["mode"],
            options={"currency": data["currency"]},
        )
    except BadInput as error:
        form.add_error(error.column if error.column in form.fields else None, sentence(error))
        return _page(request, study, form=form, status=422)
    _test(request, account)
    return redirect("study-accounts", slug)


def _own_account(study: Experiment, number: int) -> PlatformAccount:
    return get_object_or_404(credentials.usable_accounts(study), pk=number)


def _back(study: Experiment, **_numbers: int) -> HttpResponse:
    return redirect("study-accounts", study.slug)


def _test(request: AuthenticatedRequest, account: PlatformAccount) -> None:
    """Ask the platform for the balance: the smallest call that needs the token."""
    try:
        balance = adapter(account.platform)(account).balance()
    except BadInput as error:
        messages.error(
            request, f"“{account.label}” is stored, but the connection does not work: {sentence(error)}"
        )
        return
    account.checked_at = timezone.now()
    account.save(update_fields=["checked_at"])
    messages.success(request, f"“{account.label}” is connected.{_shown_balance(balance)}")


def _shown_balance(balance: Money | None) -> str:
    return f" Balance: {format_money(balance.amount_minor, balance.currency)}." if balance else ""


@action(_back)
def test_connection(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Test the connection."""
    _test(request, _own_account(study, account_id))


@sensitive_post_parameters()
@action(_back)
def replace_token(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Replace the secrets of the user's account."""
    account = _own_account(study, account_id)
    credentials.replace_secrets(
        account, _secrets(account.platform, request.POST), study=study, by=request.user
    )
    _test(request, account)


@action(_back)
def switch_events(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Subscribe this server to the events of a Prolific workspace, or end the subscription."""
    account = _own_account(study, account_id)
    if account.platform != "prolific":
        raise BadInput("this platform has no events.", remedy="Its list of submissions is read instead.")
    if account.options.get("subscriptions"):
        webhooks.unsubscribe(account)
        credentials.record_action(study, "events switched off", account, by=request.user)
        messages.success(request, "Prolific sends no more events; its list is read every few minutes.")
        return
    address = webhooks.subscribe(account, request.build_absolute_uri("/"))
    credentials.record_action(study, "events switched on", account, by=request.user)
    messages.success(request, f"Prolific announces changes at {address}.")


@action(_back)
def remove(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Take an account away from the study."""
    account = _own_account(study, account_id)
    credentials.detach(account, study, by=request.user)
    messages.success(request, f"“{account.label}” is removed from this study.")


@action(_back)
def attach(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Use the user's account from another study in this study."""
    user: User = request.user
    account = get_object_or_404(credentials.attachable(study, by=user), pk=account_id)
    credentials.attach(account, study, by=user)
    messages.success(request, f"This study may use “{account.label}”.")
