"""Reads about which worker gets which task, and why a task waits.

Not here: the life of a lease once it is granted (attempts).
"""
