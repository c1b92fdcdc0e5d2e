"""Pure decisions: the standard library only, frozen dataclasses in, frozen dataclasses out."""
