"""Use cases about the life of a lease: claim, renewal, report, retry, effects, late results.

Not here: how a task gets its worker (dispatch).
"""
