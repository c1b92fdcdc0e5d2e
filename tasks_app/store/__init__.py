"""The only writes: one named set-based statement a function."""
