"""The live screens: websockets."""
