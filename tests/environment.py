"""The environment of one test process, set before anything reads a setting.

A plugin (``-p tests.environment``), not part of conftest: pytest-django reads the settings before
any conftest is loaded, and each of the processes side by side needs a var folder of its own.
"""

import os
import tempfile
from pathlib import Path

# This run has a var folder of its own, short enough for a socket, and no setting from outside.
VAR = Path(tempfile.mkdtemp(prefix="chargehand-test-"))
OUTSIDE = (
    "ALLOWED_HOSTS",
    "ALERT_WATCH",
    "API_FAILED_RATE",
    "API_RATE",
    "BEHIND_PROXY",
    "CELERY_BROKER_URL",
    "CHARGEHAND_ENV",
    "DATABASE_URL",
    "FORCE_SCRIPT_NAME",
    "LOGIN_FAILED_RATE",
    "PUBLIC_URL",
    "SECRET_KEY",
    "TRUSTED_PROXIES",
    "WEBHOOKS_LOOPBACK",
    "WEBHOOKS_PRIVATE",
)
for _name in OUTSIDE:
    os.environ.pop(_name, None)
os.environ["CHARGEHAND_VAR"] = str(VAR)
os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
# Importing the web process asks for a pool, which is for that process and not for those of tests.
os.environ["DATABASE_POOL"] = "false"
# It would also have it watch for alerts, in this process and on this record.
os.environ["ALERT_WATCH"] = "false"
