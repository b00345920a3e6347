"""The squirrel of the cast."""
