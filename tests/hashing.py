"""Passwords of made-up people, hashed in no time: production's hasher takes 0.2 s a password."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """Production's algorithm with one round: the processes that a test starts accept its hashes."""

    iterations = 1
