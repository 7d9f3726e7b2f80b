"""Each address that changes people, money, releases or settings writes a history, or says why it does not.

Whether the entries are right is asserted where each decision is tested; here no address is forgotten.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from tests.routes import views

#: What the entries of each address are called, by how they begin.
RECORDED = {
    "account-sessions": ("login ended", "logged out everywhere else"),
    "account-token": ("token made", "token replaced", "token revoked"),
    "account_change_password": ("password changed", "token ended by a new password"),
    "account_confirm_email": ("address confirmed",),
    "account_email": ("address added", "address changed", "address removed"),
    "account_reset_password_from_key": ("password changed",),
    "account_set_password": ("password changed",),
    "account_signup": ("account created",),
    "api-archive": ("archived",),
    "api-comparisons": ("comparison started",),
    "api-deviations": ("reason of a deviation",),
    "api-model-runs": ("scoring started",),
    "api-own-paradigm": ("own paradigm deleted",),
    "api-pair-set": ("pairs deleted",),
    "api-plans": ("exclusion plan written", "current exclusion plan changed"),
    "api-publications": ("publication started",),
    "api-releases": ("release started",),
    "api-run-retry": ("scoring tried again",),
    "api-runs": ("scoring started",),
    "api-score-sets": ("scoring started",),
    "api-studies": ("created",),
    "api-study": ("settings changed", "folder changed"),
    "api-study-reports": ("report started",),
    "api-study-templates": ("created from a template", "exclusion plan written"),
    "api-unarchive": ("taken back from the archive",),
    "api-webhook": ("webhook changed", "webhook removed"),
    "api-webhook-secret": ("webhook secret rotated",),
    "api-webhooks": ("webhook added",),
    "flag-lift": ("flag lifted",),
    "invitation": ("invitation accepted", "member added"),
    "judgment-preview": ("judgments imported",),
    "lab": ("member added",),
    "lab-delete": ("lab deleted",),
    "lab-invite": ("invitation made",),
    "lab-invite-resend": ("invitation sent again",),
    "lab-invite-revoke": ("invitation revoked",),
    "lab-member-remove": ("member removed",),
    "lab-rename": ("lab renamed",),
    "labs": ("lab created",),
    "material-delete": ("materials deleted",),
    "mfa_activate_totp": ("second factor added",),
    "mfa_add_webauthn": ("second factor added",),
    "mfa_deactivate_totp": ("second factor removed",),
    "mfa_generate_recovery_codes": ("second factor added",),
    "mfa_remove_webauthn": ("second factor removed",),
    "pair-set-delete": ("pairs deleted",),
    "pair-set-share": ("pairs shared",),
    "pair-set-validation": ("created",),
    "paradigm-delete": ("own paradigm deleted",),
    "paradigm-share": ("own paradigm shared",),
    "participant-erase": ("answers deleted",),
    "participant-export": ("data of a person exported",),
    "participant-flag": ("participant flagged",),
    "payment-undo": ("pay: taken back",),
    "session-pay": ("pay: reward", "pay: bonus", "pay: screen-out pay", "pay: not paid"),
    "session-withdraw": ("answers deleted",),
    "socialaccount_connections": ("login of a service connected", "login of a service removed"),
    "socialaccount_signup": ("account created", "login of a service connected"),
    "studies-selected": ("archived", "taken back from the archive", "folder changed"),
    "study-account-add": ("platform account added",),
    "study-account-attach": ("platform account attached",),
    "study-account-events": ("platform events switched on", "platform events switched off"),
    "study-account-remove": ("platform account removed",),
    "study-account-token": ("platform token replaced",),
    "study-alert-dismiss": ("alert dismissed",),
    "study-alerts": ("alert limits",),
    "study-archive": ("archived",),
    "study-call-settle": ("platform call settled by hand",),
    "study-campaign-act": ("campaign: close", "campaign: pause", "campaign: resume", "campaign: stop"),
    "study-campaign-add": ("campaign drafted",),
    "study-campaign-discard": ("campaign discarded",),
    "study-campaign-limits": ("campaign changed",),
    "study-campaign-places": ("campaign: add places",),
    "study-campaign-publish": ("campaign: create the draft", "campaign: publish"),
    "study-campaign-step": ("campaign changed",),
    "study-channel": ("channel changed",),
    "study-channel-add": ("channel added",),
    "study-channel-state": ("channel paused", "channel opened", "channel closed"),
    "study-compare": ("comparison started",),
    "study-copy": ("copied",),
    "study-create": ("created", "study created"),
    "study-current-plan": ("current exclusion plan changed",),
    "study-delete": ("study deleted",),
    "study-demographics": ("campaign: demographics stored",),
    "study-design": ("design changed", "edit not saved"),
    "study-deviation-reason": ("reason of a deviation",),
    "study-exclusions": ("exclusion plan written", "current exclusion plan changed"),
    "study-folder": ("folder changed",),
    "study-from-template": ("created from a template", "exclusion plan written"),
    "study-invite": ("invitation made",),
    "study-invite-resend": ("invitation sent again",),
    "study-invite-revoke": ("invitation revoked",),
    "study-lab": ("moved to a lab", "moved out of its lab", "study moved in", "study moved out"),
    "study-launch": ("status", "check waived", "opened with checks undone"),
    "study-leaderboard-compare": ("comparison started",),
    "study-leave-out": ("items left out", "items shown again"),
    "study-move": ("status",),
    "study-mturk-batch": ("payment export",),
    "study-participants-decide": ("participant flagged", "flag lifted", "pay: "),
    "study-pay-many": ("pay: reward",),
    "study-personal-links": ("personal links downloaded",),
    "study-preregistered-version": ("preregistered version chosen",),
    "study-purge-date": ("purge date changed",),
    "study-questions": ("settings changed", "edit not saved"),
    "study-quotas": ("quotas changed",),
    "study-release-publish": ("publication started",),
    "study-releases": ("release started",),
    "study-reports": ("report started",),
    "study-repository-add": ("repository account added",),
    "study-repository-attach": ("repository account attached",),
    "study-repository-remove": ("repository account removed",),
    "study-repository-token": ("repository token replaced",),
    "study-review-link-revoke": ("link for reviewers revoked",),
    "study-review-links": ("link for reviewers made",),
    "study-round": ("round saved", "edit not saved"),
    "study-round-add": ("round added",),
    "study-round-remove": ("round taken away",),
    "study-round-start": ("round",),
    "study-score": ("scoring started",),
    "study-score-sets": ("scoring started",),
    "study-scoring-begin": ("scoring started",),
    "study-scoring-file-delete": ("scoring file deleted",),
    "study-scoring-retry": ("scoring tried again",),
    "study-settings": ("settings changed", "edit not saved"),
    "study-split": ("design changed",),
    "study-submission": ("submission: approve", "submission: reject", "submission: ask to return", "pay: "),
    "study-submissions-decide": ("submission: approve", "decision on a submission undone", "pay: "),
    "study-submissions-release": ("payments released",),
    "study-submissions-send": ("campaign: send decisions",),
    "study-surprisals": ("surprisals started",),
    "study-target": ("target changed",),
    "study-task": ("task changed",),
    "study-team": ("member added",),
    "study-team-remove": ("member removed",),
    "study-texts": ("texts changed", "edit not saved"),
    "study-unarchive": ("taken back from the archive",),
    "study-waive": ("check waived", "check asked again"),
    "study-webhook-remove": ("webhook removed",),
    "study-webhook-rotate": ("webhook secret rotated",),
    "study-webhook-switch": ("webhook changed",),
    "study-webhooks": ("webhook added",),
    "words-delete": ("own words deleted",),
    "words-share": ("own words shared",),
    **{
        f"study-settings-{step}": ("settings changed", "edit not saved")
        for step in ("study", "task", "texts", "questions", "checks", "sessions", "end")
    },
}
SHOWS = "shows something, whatever the method"
PREVIEWS = "computes a preview or a check and decides nothing"
MATERIALS = "writes materials, whose rows keep author, time and versions"
PARTICIPANT = "stores what a participant does, which is the data itself"
PLATFORM = "asks the platform; what it answers is in the ledger"
LOGIN = "logs somebody in or out, or asks for a password again"
OWN_PAGES = "sets how pages or mail look to one person"
#: Addresses that may change something and write no entry, with the reason.
UNRECORDED = {
    SHOWS: {
        "account", "invitation-link", "own-paradigm", "pair-set", "pair-sets", "paradigm", "session-consent",
        "session-consent-pdf", "session-kept", "study-channels", "study-deviations", "study-deviations-csv",
        "study-deviations-json", "study-exclusions-json", "study-link-qr", "study-release",
        "study-release-file", "study-release-zip", "study-webhook",
    },
    PREVIEWS: {
        "api-paradigm-lint", "api-publication-preview", "paradigm-check", "paradigm-preview", "study-check",
        "study-choose-models", "study-dry-run", "study-preview",
    },
    MATERIALS: {
        "api-own-paradigms", "api-pair-sets", "api-paradigm-generate", "judgment-discard", "judgment-upload",
        "material-discard", "material-preview", "material-upload", "pair-edit", "pair-set-materials",
        "paradigm-edit", "paradigm-new", "words-edit", "words-new",
    },
    PARTICIPANT: {
        "session", "session-answer", "session-closing", "session-continue", "session-handed", "session-leave",
        "session-modulus", "session-next", "session-questions", "session-quiz", "session-training", "take",
        "take-mturk", "take-panel", "take-prolific", "take-prolific-entry",
    },
    PLATFORM: {
        "prolific-webhook", "study-account-test", "study-call-ask", "study-campaign-read",
        "study-repository-test",
    },
    "sends a message to a participant, which the ledger keeps with its sender": {"study-submission-message"},
    "sends an event again, or a test event; its log has it": {
        "api-webhook-send", "api-webhook-test", "study-webhook-again", "study-webhook-test",
    },
    LOGIN: {
        "account_confirm_login_code", "account_login", "account_logout", "account_reauthenticate",
        "account_reset_password", "mfa_authenticate", "mfa_edit_webauthn", "mfa_login_webauthn",
        "mfa_reauthenticate", "mfa_reauthenticate_webauthn",
    },
    OWN_PAGES: {"account-alerts", "account-time-zone"},
    "leads to the present address of a page of allauth": {
        "accounts/social/connections/", "accounts/social/login/cancelled/", "accounts/social/login/error/",
        "accounts/social/signup/",
    },
}  # fmt: skip
CHANGING = ("post", "put", "patch", "delete")
READS_A_FORM = re.compile(r"require_POST|require_http_methods|request\.(POST|FILES|method [!=]=)")
OWN = ("config", "experiments", "judgments", "releases")


def _may_change(view: Any) -> bool:
    handler = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if handler is not None:
        return any(method in (getattr(view, "actions", None) or dir(handler)) for method in CHANGING)
    return view.__module__.startswith(OWN) and _reads_a_form(inspect.unwrap(view), depth=2)


def _reads_a_form(function: FunctionType, *, depth: int) -> bool:
    """Whether a function, a decorator of it or a helper that takes the request reads what a form sent."""
    source = inspect.getsource(function)
    if READS_A_FORM.search(source):
        return True
    return depth > 0 and any(_reads_a_form(helper, depth=depth - 1) for helper in _helpers(function, source))


def _helpers(function: FunctionType, source: str) -> Iterator[FunctionType]:
    module = sys.modules[function.__module__]
    for name in sorted(set(re.findall(r"[A-Za-z_]\w*", source)) - {function.__name__}):
        named = getattr(module, name, None)
        if not (inspect.isfunction(named) and named.__module__.startswith(OWN)):
            continue
        named = inspect.unwrap(named)
        if "request" in inspect.signature(named).parameters or re.search(rf"@{name}\b", source):
            yield named


def test_every_address_that_may_change_something_is_recorded_or_has_a_reason() -> None:
    changing = {name or route for name, route, view in views() if _may_change(view)}
    unrecorded = [name for names in UNRECORDED.values() for name in names]
    listed = [*RECORDED, *unrecorded]
    assert len(listed) == len(set(listed))
    assert changing - set(listed) == set(), "new: add what they record, or the reason that they do not"
    assert set(listed) - changing == set(), "gone, or only read now"
