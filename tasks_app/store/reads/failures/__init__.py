"""Reads about errors, error groups and dead tasks; not whether an error is retried (attempts)."""
