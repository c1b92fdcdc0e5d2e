"""Decisions about shapes of screens and files, without a framework.

Not here: anything that reads the record.
"""
