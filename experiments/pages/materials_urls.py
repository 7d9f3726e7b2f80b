"""Addresses of the materials pages, under ``/materials/``."""

from django.urls import path

from experiments.pages import materials_upload_views as sending
from experiments.pages import materials_views as views

urlpatterns = [
    path("", views.materials, name="materials"),
    path("upload/", sending.upload, name="material-upload"),
    path("upload/<uuid:batch>/", sending.preview, name="material-preview"),
    path("upload/<uuid:batch>/discard/", sending.discard, name="material-discard"),
    path("<slug:slug>/", views.material_set, name="material-set"),
    path("<slug:slug>/delete/", views.delete, name="material-delete"),
]
