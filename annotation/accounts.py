"""Sign-in: by a code sent to an address that the study knows. Nobody signs up by themselves."""

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "account_inactive": _("This account was deactivated. Ask the study's admin."),
        "incorrect_code": _("That is not the code. Look at the newest mail, and at each letter."),
        "rate_limited": _("That was asked for very often just now. Wait some minutes, then try again."),
        "too_many_login_attempts": _("That was tried too often. Wait some minutes, then ask for a new code."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
