"""Decisions about alerts: detection, rules, channels, delivery; not audit entries (people)."""
