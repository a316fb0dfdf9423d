"""The project package, as an app: templates, the stylesheet and the checks of the environment."""

from django.apps import AppConfig


class ConsiliumConfig(AppConfig):
    name = "consilium"
    verbose_name = "Consilium"

    def ready(self) -> None:
        from consilium import checks  # noqa: F401 - registers the system checks
