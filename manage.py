#!/usr/bin/env python
"""Django's command-line utility for administrative tasks."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand


def main() -> None:
    """Run administrative tasks."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "consilium.settings")
    from django.core.management import ManagementUtility

    from consilium.environment import answer_as_json

    class Utility(ManagementUtility):
        """Django's, where a command that isn't there is wrong use: exit 2."""

        def fetch_command(self, subcommand: str) -> "BaseCommand":
            try:
                return super().fetch_command(subcommand)
            except SystemExit:
                answer_as_json(f"There is no command {subcommand}.")
                sys.exit(2)

    Utility(sys.argv).execute()


if __name__ == "__main__":
    main()
