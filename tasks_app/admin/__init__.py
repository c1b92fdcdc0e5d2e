"""Django admin: configuration models only."""
