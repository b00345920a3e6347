"""The crowd mode: many live characters of one model."""
