"""Addresses of the grading app."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
