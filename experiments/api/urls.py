"""Addresses of the planning side's resources."""

from typing import Any

from django.urls import path

from experiments.api import design_views, team_views, upload_views, views, webhook_views

studies: dict[str, Any] = {"get": "list", "post": "create"}
one_set: dict[str, Any] = {"get": "retrieve", "delete": "destroy"}
one_study: dict[str, Any] = {"get": "retrieve", "patch": "partial_update"}
TEAM: tuple[tuple[str, Any, str], ...] = (
    ("team/", team_views.MemberViews, "members"),
    ("team/<int:pk>/", team_views.MemberView, "member"),
    ("invitations/", team_views.InvitationViews, "invitations"),
    ("invitations/<int:pk>/", team_views.InvitationView, "invitation"),
    ("invitations/<int:pk>/resend/", team_views.ResendView, "invitation-resend"),
)

urlpatterns = [
    path("studies/", views.StudyViews.as_view(studies), name="api-studies"),
    path("studies/<slug:slug>/", views.StudyViews.as_view(one_study), name="api-study"),
    path("studies/<slug:slug>/copy/", views.CopyView.as_view(), name="api-copy"),
    path("studies/<slug:slug>/design/", design_views.DesignView.as_view(), name="api-design"),
    path("studies/<slug:slug>/design/split/", design_views.SplitView.as_view(), name="api-split"),
    path("studies/<slug:slug>/design/left-out/", design_views.LeftOutView.as_view(), name="api-left-out"),
    path("studies/<slug:slug>/rounds/", design_views.RoundsView.as_view(), name="api-rounds"),
    path("studies/<slug:slug>/rounds/<int:number>/", design_views.RoundView.as_view(), name="api-round"),
    path("studies/<slug:slug>/webhooks/", webhook_views.WebhookViews.as_view(), name="api-webhooks"),
    path("studies/<slug:slug>/webhooks/<int:pk>/", webhook_views.WebhookView.as_view(), name="api-webhook"),
    path(
        "studies/<slug:slug>/webhooks/<int:pk>/secret/",
        webhook_views.WebhookSecretView.as_view(),
        name="api-webhook-secret",
    ),
    path(
        "studies/<slug:slug>/webhooks/<int:pk>/test/",
        webhook_views.WebhookTestView.as_view(),
        name="api-webhook-test",
    ),
    path(
        "studies/<slug:slug>/webhooks/<int:pk>/deliveries/",
        webhook_views.DeliveryViews.as_view(),
        name="api-webhook-deliveries",
    ),
    path(
        "studies/<slug:slug>/webhooks/<int:pk>/deliveries/<int:delivery>/send/",
        webhook_views.DeliverySendView.as_view(),
        name="api-webhook-send",
    ),
    path("studies/<slug:slug>/lab/", team_views.StudyLabView.as_view(), name="api-study-lab"),
    path("studies/<slug:slug>/review-links/", team_views.ReviewLinkViews.as_view(), name="api-review-links"),
    path(
        "studies/<slug:slug>/review-links/<int:pk>/",
        team_views.ReviewLinkView.as_view(),
        name="api-review-link",
    ),
    path("labs/", team_views.LabViews.as_view(), name="api-labs"),
    path("labs/<slug:slug>/", team_views.LabView.as_view(), name="api-lab"),
    *(
        path(f"{start}{address}", view.as_view(kind=kind), name=f"api-{kind}-{name}")
        for kind, start in (("study", "studies/<slug:slug>/"), ("lab", "labs/<slug:slug>/"))
        for address, view, name in TEAM
    ),
    path("material-uploads/", upload_views.UploadsView.as_view(), name="api-material-uploads"),
    path("material-uploads/<uuid:id>/", upload_views.UploadView.as_view(), name="api-material-upload"),
    path(
        "material-uploads/<uuid:id>/import/",
        upload_views.UploadImportView.as_view(),
        name="api-material-import",
    ),
    path("materials/", views.MaterialViews.as_view({"get": "list"}), name="api-materials"),
    path("materials/<slug:slug>/", views.MaterialViews.as_view(one_set), name="api-material"),
    path("materials/<slug:slug>/pairs/", views.PairViews.as_view(), name="api-pairs"),
    path("materials/<slug:slug>/sentences/", views.SentenceViews.as_view(), name="api-sentences"),
    path("token/", views.TokenView.as_view(), name="api-token"),
    path("jobs/<int:pk>/", views.JobView.as_view(), name="api-job"),
]
