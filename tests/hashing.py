"""Passwords of made-up people, hashed in no time: production's hasher takes 0.2 s a password."""

from tasks_app.services.people.password_hashing import BoundedPBKDF2


class QuickHasher(BoundedPBKDF2):
    """Production's hasher with one round: the processes that a test starts accept its hashes."""

    iterations = 1
