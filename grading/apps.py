from django.apps import AppConfig


class GradingConfig(AppConfig):
    name = "grading"
