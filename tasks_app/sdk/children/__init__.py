"""Slots as child processes: hard time limits and crashes; not slots as threads."""
