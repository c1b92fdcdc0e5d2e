"""Django's database backend for PostgreSQL, with a pool that outlives a restart of the server."""
