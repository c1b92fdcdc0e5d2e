"""Use cases: the order of decisions and writes, transaction boundaries, publishing."""
