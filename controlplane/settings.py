"""Django's settings: local by default with everything embedded, strict in production.

``CHARGEHAND_ENV=production`` assumes nothing: SECRET_KEY, DATABASE_URL, CELERY_BROKER_URL and
ALLOWED_HOSTS must then be set. Locally each of them selects a real server or value where it is set.
"""

import re
from datetime import timedelta
from typing import Any

from csp.constants import NONE, SELF

from controlplane import environment, logs
from controlplane.embedded.place import Place

BASE_DIR = environment.ROOT
PRODUCTION = environment.mode() == "production"
VAR = environment.var_folder()

DEBUG = environment.flag("DEBUG", default=False)
if DEBUG and PRODUCTION:
    environment.refuse("DEBUG", "is on in production", "leave it out")
SECRET_KEY = environment.secret_key(None if PRODUCTION else VAR)
ALLOWED_HOSTS = environment.words(
    "ALLOWED_HOSTS",
    None if PRODUCTION else ["localhost", "127.0.0.1", "[::1]"],
    "set it to the host names that browsers use, separated by commas",
)
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS", [], "")
# Under a path of a host that has other sites too: "/chargehand"; empty for the whole host.
SUB_PATH = environment.sub_path("FORCE_SCRIPT_NAME")
FORCE_SCRIPT_NAME = SUB_PATH or None
TRUSTED_PROXIES = environment.networks("TRUSTED_PROXIES")

INSTALLED_APPS = [
    "daphne",
    "controlplane.admin_app.RoleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "template_partials",
    "ninja",
    "axes",
    "csp",
    "tasks_app",
]

MIDDLEWARE = [
    "controlplane.requests.connections.GiveBack",
    "controlplane.requests.proxies.TrustedProxies",
    "django.middleware.security.SecurityMiddleware",
    "controlplane.requests.malformed.Malformed",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "tasks_app.web.kept.KeepsWhatWasTyped",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "tasks_app.web.person_turns.PersonTurns",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "tasks_app.web.too_many.TooMany",
]

ROOT_URLCONF = "controlplane.urls"
ASGI_APPLICATION = "controlplane.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# The record.

LEADER_LEASE_SECONDS = 10
_database_url = environment.text(
    "DATABASE_URL",
    None if PRODUCTION else "",
    "set it to postgresql://user:password@host:5432/database",
)
_database = (
    environment.database(_database_url) if _database_url else Place(VAR / "postgres").database()
)
_pooled = environment.flag("DATABASE_POOL", default=False)
_options: dict[str, Any] = {
    # Below the leader lease: a leader that froze inside a transaction has lost it before the next
    # one leads. Five seconds are half of the lease.
    # A backend that waits for a lock notices within a second that its client was killed.
    **environment.connection_options(_database["OPTIONS"], LEADER_LEASE_SECONDS * 1000 // 2),
    # Plans of the hot statements are never cached generic: one made while the lease table is empty
    # is quadratic later.
    "server_side_binding": False,
}
if _pooled:
    # A probe must learn of an outage before it gives up itself, so a request waits 3 s at most. The
    # pool's own pauses between tries double for as long as it tries, and would outlast an outage:
    # after 2 s it leaves the next try to the next request.
    _options["pool"] = {"min_size": 1, "max_size": 10, "timeout": 3, "reconnect_timeout": 2}
DATABASES = {
    "default": {
        **_database,
        "ENGINE": "controlplane.postgresql",
        "OPTIONS": _options,
        "ATOMIC_REQUESTS": False,
        # Every process outlives a restart of PostgreSQL: a connection is tried before it is used,
        # one of a pool by the backend.
        "CONN_HEALTH_CHECKS": not _pooled,
        # A pool keeps the connections itself.
        "CONN_MAX_AGE": 0 if _pooled else 60,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The broker: its messages only wake the supervisor.

BEAT_SECONDS = environment.number("BEAT_SECONDS", 5, most=3600)
CELERY_BROKER_URL = environment.text(
    "CELERY_BROKER_URL",
    None if PRODUCTION else "filesystem://",
    "set it to redis://host:6379/0 or amqp://user:password@host:5672//",
)

# People.

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "tasks_app.services.people.people.RoleBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "tasks_app.web.password_words.OwnWordsValidator"}]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "web:overview"
LOGOUT_REDIRECT_URL = "login"
# By name and address together: a stranger cannot lock somebody else out.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "tasks_app.web.too_many.locked_out"
# Its admin deletes log-in records; ours shows them.
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "tasks_app.services.people.request_limits.lock_out_address"
PASSWORD_HASHERS = ["tasks_app.services.people.password_hashing.BoundedPBKDF2"]
# Log-ins that fail from one network, whatever the names, and links for a password that do not work.
LOGIN_FAILED_RATE = environment.rate("LOGIN_FAILED_RATE", "20/min")

PASSWORD_RESET_TIMEOUT = int(timedelta(hours=1).total_seconds())

# Mail: links that set a new password. Without a server they are printed, locally only: a log of
# production would hand them to whoever may read it.

_mail = environment.mail(environment.text("EMAIL_URL", "", ""))
SENDS_MAIL = _mail is not None or not PRODUCTION
if _mail is not None:
    EMAIL_HOST, EMAIL_PORT = _mail.host, _mail.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
    EMAIL_USE_SSL, EMAIL_USE_TLS = _mail.tls, _mail.starttls
    EMAIL_TIMEOUT = 20
else:
    EMAIL_BACKEND = f"django.core.mail.backends.{'dummy' if PRODUCTION else 'console'}.EmailBackend"
DEFAULT_FROM_EMAIL = environment.text("EMAIL_FROM", "chargehand@localhost", "")

PUBLIC_URL = environment.site(environment.text("PUBLIC_URL", "", ""))
if PRODUCTION and _mail is not None and not PUBLIC_URL:
    environment.refuse(
        "PUBLIC_URL", "is missing", "mailed links lead there; set it to https://desk.example.org"
    )

# Alerts: each web process watches, unless manage.py watch does. Webhooks lead to public https
# addresses alone; networks of one's own, and plain http to this machine, are allowed by name.

ALERT_WATCH = environment.flag("ALERT_WATCH", default=True)
WEBHOOKS_PRIVATE = environment.flag("WEBHOOKS_PRIVATE", default=False)
WEBHOOKS_LOOPBACK = environment.flag("WEBHOOKS_LOOPBACK", default=False)
if WEBHOOKS_LOOPBACK and PRODUCTION:
    environment.refuse("WEBHOOKS_LOOPBACK", "is on in production", "leave it out")

# Browsers.

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = int(timedelta(hours=12).total_seconds())
CSRF_COOKIE_SAMESITE = "Lax"
# Pages carry the token themselves; no script has to read the cookie.
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "controlplane.requests.refusals.no_token"
if SUB_PATH:
    # Other sites of this host get none of these cookies, and set none of the same name: a browser
    # takes a name that begins with __Host- for all of the host alone.
    _cookie = "__Secure-chargehand-" if PRODUCTION else "chargehand-"
    SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{SUB_PATH}/"
    MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
else:
    # A browser takes a name with this prefix from this host alone, over TLS, and for all of it.
    _cookie = "__Host-" if PRODUCTION else ""
SESSION_COOKIE_NAME = f"{_cookie}sessionid"
CSRF_COOKIE_NAME = f"{_cookie}csrftoken"
if PRODUCTION:
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = environment.flag("SECURE_SSL_REDIRECT", default=True)
    # Probes of an orchestrator speak plain HTTP to the process itself.
    SECURE_REDIRECT_EXEMPT = [
        f"^{re.escape(f'{SUB_PATH}/{probe}'[1:])}$" for probe in ("healthz", "readyz", "metrics")
    ]
    SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds())
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    if environment.flag("BEHIND_PROXY", default=False):
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Requests of one token, and those from one address with a token that is none.
API_RATE = environment.rate("API_RATE", "6000/min")
API_FAILED_RATE = environment.rate("API_FAILED_RATE", "60/min")

# The largest body of a request: 10,000 tasks of the API at 3 KiB each.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024

# Files and words.

STATIC_URL = f"{SUB_PATH}/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR / "static" if PRODUCTION else None
WHITENOISE_USE_FINDERS = not PRODUCTION
_static = (
    "whitenoise.storage.CompressedManifestStaticFilesStorage"
    if PRODUCTION
    else "django.contrib.staticfiles.storage.StaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _static},
}
LANGUAGE_CODE = "en-gb"
# English, and each language with a compiled catalogue: the browser's wish decides.
LANGUAGES = [
    (LANGUAGE_CODE, "English"),
    *((code, code) for code in environment.languages(BASE_DIR / "tasks_app" / "locale")),
]
TIME_ZONE = "UTC"
USE_TZ = True
LOGGING = logs.configuration(as_json=PRODUCTION)
