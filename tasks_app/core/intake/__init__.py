"""Decisions about submission, and what a new task is checked against; not plans of jobs (jobs)."""
