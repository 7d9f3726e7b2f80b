"""Addresses of the pages of teams."""

from django.urls import path

from experiments.pages.teams import invitations, labs, study_team
from experiments.pages.teams import study_team as teams_study_team

urlpatterns = [
    path("studies/<slug:slug>/team/", study_team.team, name="study-team"),
    path("studies/<slug:slug>/team/lab/", labs.move_study, name="study-lab"),
    path("studies/<slug:slug>/team/<int:member_id>/remove/", study_team.remove, name="study-team-remove"),
    path("labs/", labs.labs, name="labs"),
    path("labs/<slug:slug>/", labs.lab, name="lab"),
    path("labs/<slug:slug>/name/", labs.rename, name="lab-rename"),
    path("labs/<slug:slug>/payment-limits/", labs.limit_payments, name="lab-payment-limits"),
    path("labs/<slug:slug>/delete/", labs.delete, name="lab-delete"),
    path("labs/<slug:slug>/members/<int:member_id>/remove/", labs.remove, name="lab-member-remove"),
    *(
        path(address, view, {"kind": kind}, name=f"{kind}-{name}")
        for kind, start in (("study", "studies/<slug:slug>/team/"), ("lab", "labs/<slug:slug>/"))
        for address, view, name in (
            (f"{start}invitations/", invitations.invite, "invite"),
            (f"{start}invitations/<int:pk>/resend/", invitations.resend, "invite-resend"),
            (f"{start}invitations/<int:pk>/revoke/", invitations.revoke, "invite-revoke"),
        )
    ),
    path("studies/<slug:slug>/team/review-links/", teams_study_team.make, name="study-review-links"),
    path(
        "studies/<slug:slug>/team/review-links/<int:pk>/revoke/",
        teams_study_team.revoke,
        name="study-review-link-revoke",
    ),
    path("invitations/", invitations.invitation, name="invitation"),
    path("invitations/<str:token>/", invitations.open_link, name="invitation-link"),
]
