"""The actor of the cast."""
