"""Reads about what must hold of the record, as queries for what breaks it; not repairs."""
