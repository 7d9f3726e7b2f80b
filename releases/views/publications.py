"""Publishing a release: what would be sent, sending it, and the study's accounts on repositories."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from analysis.errors import BadInput
from experiments.models import Experiment, Mode, PlatformAccount
from experiments.pages.access import AuthenticatedRequest, may_edit
from experiments.teams.roles import owns
from judgments.recruitment import credentials
from judgments.recruitment.pages.campaign_access import action, sentence
from releases.gold.describe import withdrawn_since
from releases.models import Publication
from releases.publishing.publish import (
    REPOSITORIES,
    check_target,
    find_draft,
    irreversible,
    open_repository,
    preview,
    request_publication,
)
from releases.views.base import add_form_error, page, study_page
from releases.views.releases import find

Place = Publication.Place
#: Where a person gets a token on the repository's own site, and the rights that it needs.
WHERE = {
    Place.HUGGINGFACE: "On huggingface.co: Settings, Access Tokens, a fine-grained token that may write to"
    " the datasets of one account or organization.",
    Place.ZENODO: "On zenodo.org or sandbox.zenodo.org: Applications, Personal access tokens, with"
    " deposit:write and deposit:actions.",
    Place.OSF: "On osf.io or test.osf.io: Settings, Personal access tokens, with osf.full_write.",
}


class PublishForm(forms.Form):
    """Target of a publication and its visibility."""

    account = forms.ChoiceField(label="Repository")
    target = forms.CharField(
        label="Name of the dataset",
        max_length=200,
        required=False,
        help_text="On Hugging Face only: ORG/NAME, such as my-lab/agreement.",
    )
    visibility = forms.ChoiceField(label="Visibility", widget=forms.RadioSelect, initial="draft")

    def __init__(self, *args: Any, accounts: list[PlatformAccount], may_open: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.accounts = {str(account.pk): account for account in accounts}
        account, visibility = self.fields["account"], self.fields["visibility"]
        assert isinstance(account, forms.ChoiceField)
        assert isinstance(visibility, forms.ChoiceField)
        account.choices = [(key, account_name(row)) for key, row in self.accounts.items()]
        visibility.choices = [("draft", "Draft: only you, and people you invite there, see it")]
        if may_open:
            visibility.choices = [*visibility.choices, ("public", "Public: for everybody")]
        else:
            visibility.help_text = "Only owners of the study make a release public."

    def clean(self) -> dict[str, Any]:
        """Check the name of the dataset."""
        data = super().clean() or {}
        if account := self.accounts.get(data.get("account", "")):
            try:
                data["target"] = check_target(account.platform, data.get("target", ""))
            except BadInput as error:
                self.add_error("target", sentence(error))
        return data

    @property
    def chosen_account(self) -> PlatformAccount:
        """The account of a valid form."""
        return self.accounts[self.cleaned_data["account"]]

    @property
    def is_public(self) -> bool:
        """Whether a valid form asks for everybody to see it."""
        return bool(self.cleaned_data["visibility"] == "public")


class RepositoryForm(forms.Form):
    """A new account on a repository; its token is never shown again."""

    label = forms.CharField(max_length=100, label="Name of the account", help_text="For you and your team.")
    mode = forms.ChoiceField(choices=Mode.choices, initial=Mode.TEST, widget=forms.RadioSelect, label="Site")
    token = forms.CharField(
        label="Access token",
        max_length=credentials.LONGEST_SECRET,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, data: Any = None, *, place: str) -> None:
        super().__init__(data, auto_id=f"id_{place}_%s")
        self.place = place
        self.fields["label"].initial = Place(place).label
        self.fields[
            "token"
        ].help_text = f"{WHERE[Place(place)]} Stored encrypted; its last 4 characters are shown."
        mode = self.fields["mode"]
        assert isinstance(mode, forms.ChoiceField)
        mode.choices = [
            (Mode.TEST.value, "Sandbox: for trying it out; nothing there is permanent"),
            (Mode.LIVE.value, f"{Place(place).label} itself"),
        ]
        if place == Place.HUGGINGFACE:  # it has no sandbox; its drafts are private datasets
            mode.widget, mode.initial = forms.HiddenInput(), Mode.LIVE.value


def account_name(account: PlatformAccount) -> str:
    """The repository, its sandbox, and the account."""
    is_sandbox = account.mode == Mode.TEST and account.platform != Place.HUGGINGFACE
    return f"{Place(account.platform).label}{' sandbox' if is_sandbox else ''}: {account}"


def repository_accounts(study: Experiment) -> list[PlatformAccount]:
    """The study's accounts on repositories."""
    return list(credentials.usable_accounts(study, *REPOSITORIES).select_related("owner"))


@study_page
def publish(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Choose a repository, see what would be sent, and send it."""
    if not may_edit(request.user, study):
        raise PermissionDenied("Viewers of a study do not publish its releases.")
    release = find(study, number, ready=True)
    data = request.POST if request.method == "POST" else request.GET or None
    accounts = repository_accounts(study)
    form = PublishForm(data, accounts=accounts, may_open=owns(request.user, study))
    shown, draft, is_valid = None, None, form.is_bound and form.is_valid()
    if is_valid:
        account, target = form.chosen_account, form.cleaned_data["target"]
        try:
            if request.method == "POST":
                user: Any = request.user
                publication = request_publication(
                    release, account, target=target, is_public=form.is_public, by=user
                )
                messages.success(request, f"The release is being sent to {publication.place_name}.")
                return redirect("study-release", study.slug, release.number)
            shown = preview(release, account.platform, is_public=form.is_public, mode=account.mode)
            draft = find_draft(release, account, target) if form.is_public else None
        except BadInput as error:
            add_form_error(request, form, error)
    return page(
        request,
        study,
        "releases",
        template="publish",
        release=release,
        form=form,
        accounts=accounts,
        preview=shown,
        draft=draft,
        irreversible=irreversible(draft.place) if draft else "",
        place=account_name(form.chosen_account) if shown else "",
        withdrawn=withdrawn_since(release),
        status=400 if request.method == "POST" else 200,
    )


def _repositories(
    request: HttpRequest, study: Experiment, *, form: RepositoryForm | None = None, status: int = 200
) -> HttpResponse:
    user: Any = request.user
    rows = [
        {
            "account": account,
            "name": account_name(account),
            "is_own": account.owner_id == user.pk,
            "place": account.platform,
        }
        for account in repository_accounts(study)
    ]
    new = [
        (label, place, form if form is not None and form.place == place else RepositoryForm(place=place))
        for place, label in Place.choices
    ]
    attachable = credentials.attachable(study, *REPOSITORIES, by=user)
    return page(
        request,
        study,
        "releases",
        template="repositories",
        rows=rows,
        new=new,
        attachable=[(account.pk, account_name(account)) for account in attachable],
        status=status,
    )


@study_page
def repositories(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The study's accounts on repositories."""
    return _repositories(request, study)


def _back(study: Experiment, **_numbers: Any) -> HttpResponse:
    return redirect("study-repositories", study.slug)


@sensitive_post_parameters("token")
@action(_back)
def add(request: AuthenticatedRequest, study: Experiment, *, place: Any) -> HttpResponse | None:
    """Store an account and test its token."""
    if place not in REPOSITORIES:
        raise BadInput(f"{place!r} is not a repository.", remedy=f"There are: {', '.join(REPOSITORIES)}.")
    form = RepositoryForm(request.POST, place=place)
    if not form.is_valid():
        return _repositories(request, study, form=form, status=422)
    data = form.cleaned_data
    try:
        account = credentials.add_account(
            study,
            platform=place,
            label=data["label"],
            secrets={"token": data["token"]},
            by=request.user,
            mode=Mode.LIVE if place == Place.HUGGINGFACE else data["mode"],
        )
    except BadInput as error:
        form.add_error("token", sentence(error))
        return _repositories(request, study, form=form, status=422)
    _test(request, account)
    return None


def _account(study: Experiment, number: int) -> PlatformAccount:
    return get_object_or_404(credentials.usable_accounts(study, *REPOSITORIES), pk=number)


def _test(request: AuthenticatedRequest, account: PlatformAccount) -> None:
    """Ask the repository whose token it is."""
    try:
        name = open_repository(account).user_name()
    except BadInput as error:
        problem = sentence(error)
        messages.error(request, f"“{account.label}” is stored, but the connection does not work: {problem}")
        return
    account.checked_at = timezone.now()
    account.save(update_fields=["checked_at"])
    messages.success(request, f"“{account.label}” is connected{f' as {name}' if name else ''}.")


@action(_back)
def test_connection(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Test the connection."""
    _test(request, _account(study, account_id))


@sensitive_post_parameters("token")
@action(_back)
def replace_token(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Replace the token of the user's account."""
    account = _account(study, account_id)
    secrets = {"token": str(request.POST.get("token", ""))}
    credentials.replace_secrets(account, secrets, study=study, by=request.user)
    _test(request, account)


@action(_back)
def remove(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Take an account away from the study; what was published stays where it is."""
    account = _account(study, account_id)
    credentials.detach(account, study, by=request.user)
    messages.success(request, f"“{account.label}” is removed from this study.")


@action(_back)
def attach(request: AuthenticatedRequest, study: Experiment, *, account_id: int) -> None:
    """Let the study use the user's account from another study."""
    account = get_object_or_404(credentials.attachable(study, *REPOSITORIES, by=request.user), pk=account_id)
    credentials.attach(account, study, by=request.user)
    messages.success(request, f"This study may use “{account.label}”.")
