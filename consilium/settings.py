"""Settings, from the environment only (see the table in README.md). Importing them starts nothing."""

import os
from pathlib import Path
from typing import Any

import django_stubs_ext

from consilium.environment import (
    is_this_machine,
    read_database_url,
    read_email_url,
    read_flag,
    read_folder,
    read_hosts,
    read_origins,
    read_people,
    read_secret_key,
    read_sender,
    read_site_url,
    read_variable_names,
    read_whole_number,
    stop,
)

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = read_folder("CONSILIUM_VAR", BASE_DIR / "var")

DEBUG = read_flag("DEBUG")
ALLOWED_HOSTS = read_hosts("ALLOWED_HOSTS", patterns=True)
IS_LOCAL = all(is_this_machine(host) for host in ALLOWED_HOSTS)
if not ALLOWED_HOSTS:
    ALLOWED_HOSTS = ["localhost", ".localhost", "127.0.0.1", "[::1]"]
if DEBUG and not IS_LOCAL:
    stop("DEBUG is on while ALLOWED_HOSTS names other machines; it would show the study's texts to strangers.")

DEMO = read_flag("CONSILIUM_DEMO")
"""Sign-in without a code, for the demo study's people only. Never beside a host that others can reach."""
if DEMO and not IS_LOCAL:
    stop("CONSILIUM_DEMO is on while ALLOWED_HOSTS names other machines; anybody could sign in.")

SECRET_KEY = read_secret_key(is_local=IS_LOCAL, var=VAR)

# `make run` leaves the address of its embedded server here, so that commands in a second terminal find it.
_running = VAR / "database_url"
DATABASE_URL = os.environ.get("DATABASE_URL", "").strip()
if not DATABASE_URL and IS_LOCAL and _running.is_file():
    DATABASE_URL = _running.read_text().strip()
DATABASES: dict[str, dict[str, Any]] = {
    "default": read_database_url(DATABASE_URL)
    or {"ENGINE": "django.db.backends.postgresql", "NAME": "", "OPTIONS": {}}  # told by consilium.checks
}
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True  # a restarted PostgreSQL costs no page
_pool = read_whole_number("DATABASE_POOL", 0, most=10_000)
if _pool:
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": _pool, "timeout": 20}
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "django_htmx",
    "pgtrigger",
    "procrastinate.contrib.django",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "consilium",
    "annotation",
    "rubrics",
    "grading",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "consilium.security.content_security_policy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "consilium.speaking.speak_the_readers_language",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "consilium.errors.refuse_nul",
    "consilium.pages.keep_words_when_signed_out",
    "consilium.errors.RuleViolationMiddleware",
]

ROOT_URLCONF = "consilium.urls"
WSGI_APPLICATION = "consilium.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "consilium" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "consilium.context.site",
            ],
        },
    }
]

AUTH_USER_MODEL = "annotation.User"
# The address is unique in any letter case: a constraint on lower(email), which the check does not see.
SILENCED_SYSTEM_CHECKS = ["auth.W004"]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "account_request_login_code"
LOGIN_REDIRECT_URL = "my_studies"
ACCOUNT_ADAPTER = "annotation.accounts.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # the code that signs in is the proof
ACCOUNT_LOGIN_BY_CODE_ENABLED = True
ACCOUNT_LOGIN_BY_CODE_TIMEOUT = 900
ACCOUNT_LOGIN_BY_CODE_MAX_ATTEMPTS = 5
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # no mail to whoever is not in a study
ACCOUNT_LOGOUT_REDIRECT_URL = "account_request_login_code"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Consilium: "

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
"""Languages of the pages: those alone whose catalogues are whole (tests/not_yet_translated.txt is empty)."""
FORMAT_MODULE_PATH = ["consilium.formats"]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS: list[Path] = []
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if IS_LOCAL
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = IS_LOCAL

MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "consilium.pages.answer_csrf_failure"
CSRF_TRUSTED_ORIGINS = read_origins("CSRF_TRUSTED_ORIGINS")
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
_behind_proxy = read_flag("BEHIND_PROXY")
if not IS_LOCAL:
    SECURE_SSL_REDIRECT = not _behind_proxy
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365
    if _behind_proxy:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

_mail = read_email_url(os.environ.get("EMAIL_URL", "").strip())
globals().update(_mail)
DEFAULT_FROM_EMAIL = read_sender("DEFAULT_FROM_EMAIL", "Consilium <consilium@localhost>")
SITE_URL = read_site_url("SITE_URL", hosts=ALLOWED_HOSTS, is_local=IS_LOCAL)
"""What links in mail begin with: no request says it where a worker sends."""

DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

STUDY_MAKERS = read_people("STUDY_MAKERS") or (["*"] if IS_LOCAL else [])
"""Who may make studies on pages and by the API, besides whoever is an admin of one."""

GRADER_KEY_VARIABLES = read_variable_names("GRADER_KEY_VARIABLES")
"""Names of environment variables whose value a page may use as an endpoint's key; no other name is accepted."""
GRADER_HTTP_HOSTS = [host.lower().strip("[]") for host in read_hosts("GRADER_HTTP_HOSTS")]
"""Hosts other than this machine whose endpoints may be reached by plain http."""
GRADER_CALL_SECONDS = read_whole_number("GRADER_CALL_SECONDS", 300, least=1)
"""How long a call to an endpoint may take in all before it counts as unanswered."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    # DRF exempts its views from LoginRequiredMiddleware, so the demand stands here.
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["consilium.bodies.BoundedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "consilium.errors.api_exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Consilium",
    "DESCRIPTION": "From a conversation to an agreement report, under the same rules as the pages.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    # Fields of one name and several lists of choices.
    "ENUM_NAME_OVERRIDES": {
        "ReportKind": "annotation.models.ConversationReport.Kind",
        "GradeVerdict": "grading.models.Grade.Verdict",
        "ReviewerVerdict": "grading.models.ReviewerVerdict.Verdict",
        "RespondentKind": "grading.models.Respondent.Kind",
        "VersionKind": "rubrics.models.RubricVersion.Kind",
        "FileImportKind": "annotation.models.FileImport.Kind",
        "ConversationState": "annotation.states.ConversationState",
        "CriterionState": "annotation.states.CriterionState",
        "ObjectionCategory": "annotation.models.ObjectionCategory",
        "VoteChoice": "annotation.models.Vote.Choice",
        "PracticeChoice": "annotation.models.PracticeChoice",
        "PilotMark": "annotation.models.PilotMark.Mark",
    },
}

PROCRASTINATE_ON_APP_READY = "grading.queueing.set_up"
PROCRASTINATE_WORKER_DEFAULTS = {
    # Jobs, one a response. Calls are capped by each grader's own number, and a worker takes no more jobs of an
    # endpoint than it can keep busy (grading.queueing).
    "concurrency": 4096,
    "delete_jobs": "successful",
    "wait": True,
    "update_heartbeat_interval": 10,
    "stalled_worker_timeout": 45,
    # Calls under way may finish; then the job goes back into the queue.
    "shutdown_graceful_timeout": 60,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
}
