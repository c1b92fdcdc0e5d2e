"""The task graph of one post.

image --+                     (only where they disagree)
        +--> notify --> review --+
text  --+                        +--> settle
        +------------------------+
"""

from collections.abc import Sequence
from typing import Any, Final

from examples.content_moderation.kinds import IMAGE, NOTIFY, REVIEW, SETTLE, TEXT
from examples.content_moderation.posts import Post

DISAGREE: Final = {
    "not": {"$result": "image.verdict", "equals": {"$result": "text.verdict"}},
}


def plan_of(post: Post, picture: str) -> dict[str, Any]:
    """The job of a post; ``picture`` is the path of its file."""
    return {
        "name": f"post {post.id}",
        "key": f"moderation:{post.id}",
        "steps": [
            {"name": "image", "kind": IMAGE, "payload": {"post": post.id, "picture": picture}},
            {"name": "text", "kind": TEXT, "payload": {"post": post.id, "text": post.text}},
            *_asking(post, picture),
            {
                "name": "settle",
                "kind": SETTLE,
                "depends_on": [{"on": "review", "on_dead": "continue"}],
                "payload": {
                    "post": post.id,
                    "image": {"$result": "image.verdict"},
                    "text": {"$result": "text.verdict"},
                    "decision": {"$result": "review.decision"},
                },
            },
        ],
        "result": {
            "post": post.id,
            "verdict": {"$result": "settle.verdict"},
            "by": {"$result": "settle.by"},
        },
    }


def _asking(post: Post, picture: str) -> Sequence[dict[str, Any]]:
    """The two steps that a post takes only where its analyses disagree."""
    findings = {"image": {"$result": "image"}, "text": {"$result": "text"}}
    return (
        {
            "name": "notify",
            "kind": NOTIFY,
            "when": DISAGREE,
            "payload": {"post": post.id, **findings},
        },
        {
            "name": "review",
            "kind": REVIEW,
            "when": DISAGREE,
            # An alert that cannot be sent does not keep a person from looking.
            "depends_on": [{"on": "notify", "on_dead": "continue"}],
            "payload": {"post": post.id, "picture": picture, "words": post.text, **findings},
        },
    )
