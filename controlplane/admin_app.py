"""Django's admin as an app, with the site that goes by roles."""

from django.contrib.admin.apps import AdminConfig


class RoleAdminConfig(AdminConfig):
    """Puts ``RoleAdminSite`` in the place of the default site."""

    default_site = "controlplane.admin_site.RoleAdminSite"
