"""Addresses to which recruitment platforms deliver events."""

from django.urls import path

from judgments.recruitment.prolific.webhooks import receive

urlpatterns = [path("prolific/<int:account_id>/", receive, name="prolific-webhook")]
