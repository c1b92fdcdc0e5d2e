"""Writes about configuration, its previews and history, and retention.

Not here: accounts and roles (people).
"""
