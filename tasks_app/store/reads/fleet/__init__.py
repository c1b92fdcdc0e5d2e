"""Reads about workers: their boots, load and history; not what workers report (attempts)."""
