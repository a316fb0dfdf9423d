"""The web server's way in. The same checks as the commands' are made before the first request."""

import os

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "consilium.settings")
application = get_wsgi_application()
call_command("check")
