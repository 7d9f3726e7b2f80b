"""Addresses of the materials pages, under ``/materials/``."""

from django.urls import path

from experiments.pages.materials import sets as views
from experiments.pages.materials import upload as sending

urlpatterns = [
    path("", views.materials, name="materials"),
    path("upload/", sending.wizard.upload, name="material-upload"),
    path("upload/<uuid:batch>/", sending.wizard.preview, name="material-preview"),
    path("upload/<uuid:batch>/discard/", sending.wizard.discard, name="material-discard"),
    path("<slug:slug>/", views.material_set, name="material-set"),
    path("<slug:slug>/delete/", views.delete, name="material-delete"),
]
