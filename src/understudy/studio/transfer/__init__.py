"""The transfer mode: a motion of one character onto another."""
