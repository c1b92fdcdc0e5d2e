"""Decisions about the query language and the lists that it fills.

Not here: groups of dead tasks (failures).
"""
