"""understudy makes new character animation out of animation that already exists."""

__version__ = "0.1.0"
