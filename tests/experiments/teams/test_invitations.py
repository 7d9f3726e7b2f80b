"""Invitations by mail: one use, one role, no address for who opens the link."""

from datetime import timedelta
from smtplib import SMTPServerDisconnected

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from experiments.models import AuditEntry, Invitation
from experiments.teams.roles import role_in
from tests import cast

pytestmark = pytest.mark.django_db
TEAM, INVITE = "/studies/agreement/team/", "/studies/agreement/team/invitations/"
ADDRESS = "guest.person@example.org"


@pytest.fixture
def study():
    return cast.draft("agreement")


def invite(client, *, address=INVITE, email=ADDRESS, role="editor"):
    """Invite as Ada; return the path of the link, which the next page shows once."""
    client.force_login(cast.ada())
    response = client.post(address, {"email": email, "role": role}, follow=True)
    client.logout()
    return link_of(response)


def link_of(response):
    page = response.content.decode()
    assert '<code class="secret">' in page, page[:2000]
    return page.split('<code class="secret">')[1].split("</code>")[0].removeprefix("http://testserver")


def confirm(account, email=ADDRESS):
    EmailAddress.objects.create(user=account, email=email, verified=True)


def test_an_invited_account_accepts_once(client, study):
    link = invite(client)
    confirm(cast.cleo())
    opened = client.get(link, follow=True)
    assert opened.redirect_chain == [("/invitations/", 302)]
    page = opened.content.decode()
    assert "ada" in page and "editor" in page and "Study agreement" in page and "Log in" in page
    client.force_login(cast.cleo())
    client.get(link)
    assert "not a confirmed one" not in client.get("/invitations/").content.decode()
    assert client.post("/invitations/").url == "/studies/agreement/"
    assert role_in(cast.cleo(), study) == "editor"
    client.force_login(cast.user("dora"))
    assert client.get(link, follow=True).status_code == 404
    entries = AuditEntry.objects.filter(action__startswith="invitation").order_by("pk")
    assert [(entry.action, entry.user.username) for entry in entries] == [
        ("invitation made", "ada"), ("invitation accepted", "cleo")
    ]  # fmt: skip
    assert entries.last().details["confirmed_address"] is True


def test_neither_pages_nor_histories_have_the_address_and_nothing_has_the_link(client, study):
    link = invite(client)
    assert ADDRESS not in client.get(link, follow=True).content.decode()
    client.force_login(cast.cleo())
    client.get(link)
    page = client.get("/invitations/").content.decode()
    assert ADDRESS not in page and "not a confirmed one of this account" in page
    client.force_login(cast.ben())  # a viewer
    assert (
        ADDRESS
        not in client.get(TEAM).content.decode() + client.get("/studies/agreement/history/").content.decode()
    )
    secret = link.split("/")[2].split(".")[0]
    stored = str(Invitation.objects.values_list()) + str(AuditEntry.objects.values_list())
    assert secret not in stored and ADDRESS not in str(AuditEntry.objects.values_list("details"))


def test_another_account_may_accept_and_the_history_says_so(client, study):
    link = invite(client)
    client.force_login(cast.cleo())
    client.get(link)
    client.post("/invitations/")
    entry = AuditEntry.objects.get(action="invitation accepted")
    assert (entry.user, entry.details["confirmed_address"]) == (cast.cleo(), False)


def test_an_invitation_opens_sign_up_and_only_for_its_browser(client, study, settings):
    settings.OPEN_SIGNUP = False
    link = invite(client)
    assert 'name="password1"' not in client.get("/accounts/signup/").content.decode()
    client.get(link)
    assert 'name="password1"' in client.get("/accounts/signup/?next=/invitations/").content.decode()
    client.force_login(cast.ada())
    client.post(f"{INVITE}{Invitation.objects.get().pk}/revoke/")
    client.logout()
    client.get(link)
    assert 'name="password1"' not in client.get("/accounts/signup/").content.decode()


def test_mail_carries_the_link_where_mail_is_sent(client, study):
    link = invite(client)
    (message,) = mail.outbox
    assert message.to == [ADDRESS] and link in message.body and "editor" in message.body


def test_a_mail_server_that_fails_leaves_the_link_to_copy(client, study, monkeypatch):
    def fail(*args, **kwargs):
        raise SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
    client.force_login(cast.ada())
    response = client.post(INVITE, {"email": ADDRESS, "role": "viewer"}, follow=True)
    assert "did not take the invitation" in response.content.decode() and link_of(response)
    assert '<code class="secret">' not in client.get(TEAM).content.decode()


def test_without_mail_the_page_says_to_send_the_link(client, study, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    client.force_login(cast.ada())
    page = client.post(INVITE, {"email": ADDRESS, "role": "viewer"}, follow=True).content.decode()
    assert "sends no mail: send the link yourself" in page


def test_a_new_link_ends_the_former_one(client, study):
    first = invite(client)
    client.force_login(cast.ada())
    second = link_of(client.post(f"{INVITE}{Invitation.objects.get().pk}/resend/", follow=True))
    assert client.get(first, follow=True).status_code == 404
    assert client.get(second, follow=True).status_code == 200


@pytest.mark.parametrize("change", ["revoked", "expired", "accepted", "demoted", "tampered"])
def test_an_invitation_that_ended_gives_nothing(client, study, change):
    link = invite(client)
    row = Invitation.objects.all()
    if change == "expired":
        row.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif change == "demoted":
        study.memberships.create(user=cast.user("dora"), role="owner")
        study.memberships.filter(user=cast.ada()).update(role="viewer")
    elif change == "tampered":
        link = link[:-3] + ("aa/" if not link.endswith("aa/") else "bb/")
    else:
        row.update(**{f"{change}_at": timezone.now()})
    client.force_login(cast.cleo())
    page = client.get(link, follow=True)
    assert page.status_code == 404 and "no longer valid" in page.content.decode()
    client.post("/invitations/")
    assert role_in(cast.cleo(), study) is None


def test_a_higher_role_stays(client, study):
    link = invite(client, role="viewer")
    client.force_login(cast.ada())
    client.get(link)
    client.post("/invitations/")
    assert role_in(cast.ada(), study) == "owner"


def test_a_lab_invites_too(client):
    lab = cast.lab(ada="manager", vera="viewer")
    link = invite(client, address="/labs/syntax-lab/invitations/", role="manager")
    client.force_login(cast.user("vera"))
    client.get(link)
    assert client.post("/invitations/").url == "/labs/syntax-lab/"
    assert lab.memberships.get(user=cast.user("vera")).role == "manager"


@pytest.mark.parametrize("name", ["ben", "emil", "cleo"])
def test_only_owners_invite_see_and_end_invitations(client, study, name):
    study.memberships.create(user=cast.user("emil"), role="editor")
    invite(client)
    row = Invitation.objects.get()
    client.force_login(cast.user(name))
    for path in (INVITE, f"{INVITE}{row.pk}/resend/", f"{INVITE}{row.pk}/revoke/"):
        assert client.post(path, {"email": "x@example.org", "role": "owner"}).status_code in {403, 404}
    assert ADDRESS not in client.get(TEAM).content.decode()
    assert Invitation.objects.count() == 1 and not Invitation.objects.get().revoked_at


def test_roles_of_the_other_kind_and_bad_addresses_are_refused(client, study):
    client.force_login(cast.ada())
    for fields in ({"email": ADDRESS, "role": "manager"}, {"email": "nobody", "role": "viewer"}):
        assert client.post(INVITE, fields, follow=True).status_code == 200
    assert not Invitation.objects.exists() and not mail.outbox


def test_limits(client, study, monkeypatch):
    invite(client)
    client.force_login(cast.ada())

    def message(path=INVITE, email="x@example.org"):
        return client.post(path, {"email": email, "role": "viewer"}, follow=True).content.decode()

    assert "invited already" in message(email=ADDRESS.upper())
    monkeypatch.setattr("experiments.teams.invitations.MOST_A_DAY", 1)
    assert "within a day" in message()
    monkeypatch.setattr("experiments.teams.invitations.MOST_PENDING", 1)
    assert "1 invitations are pending" in message()
    monkeypatch.setattr("experiments.teams.invitations.MOST_LINKS", 1)
    assert "It was sent 1 times" in message(f"{INVITE}{Invitation.objects.get().pk}/resend/")
    assert Invitation.objects.count() == 1 and len(mail.outbox) == 1
