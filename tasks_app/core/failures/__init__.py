"""Decisions about errors, error groups and dead tasks.

Not here: whether an error is retried (attempts).
"""
