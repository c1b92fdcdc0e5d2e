"""Decisions about what is hidden of payloads, results and texts, wherever it goes.

Not here: who may see it whole (people).
"""
