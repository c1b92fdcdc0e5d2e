"""The Django project: settings, entry points, and the processes of one machine."""
