"""Decisions about accounts, roles, tokens and the audit; not tasks that people do (jobs)."""
