"""Addresses outside any study: sign-in by a code, sign-out, and what machines ask for.

Of allauth's pages only these exist: nobody signs up, and there are no passwords.
"""

from allauth.account import views as account
from django.contrib.auth.decorators import login_not_required
from django.urls import path
from django.views.generic import RedirectView

from consilium import machines

urlpatterns = [
    path("sign-in/", account.request_login_code, name="account_request_login_code"),
    path("sign-in/code/", account.confirm_login_code, name="account_confirm_login_code"),
    path("sign-in/inactive/", account.account_inactive, name="account_inactive"),
    path("sign-out/", account.logout, name="account_logout"),
    # allauth leads here by name when a sign-in was begun and not ended
    path(
        "sign-in/again/",
        login_not_required(RedirectView.as_view(pattern_name="account_request_login_code", query_string=True)),
        name="account_login",
    ),
    path("robots.txt", machines.robots, name="robots"),
    path("healthz", machines.healthz, name="healthz"),
]
