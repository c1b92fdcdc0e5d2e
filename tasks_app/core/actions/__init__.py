"""Decisions about what people do to tasks and kinds: requeue, dismiss, cancel, pause, edit.

Not here: what the supervisor does by itself (dispatch).
"""
