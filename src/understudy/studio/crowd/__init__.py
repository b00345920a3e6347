"""Many live characters of one model at once, each with a will of its own."""
