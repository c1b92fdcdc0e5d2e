"""Content moderation: image and text are judged apart, and a person decides where they disagree."""
