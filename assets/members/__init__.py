"""The smaller members of the cast: lamp, penguin, squirrel and actor."""
