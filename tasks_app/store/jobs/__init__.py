"""Writes about plans, steps, sagas, and steps that people do.

Not here: single tasks without a job (intake).
"""
