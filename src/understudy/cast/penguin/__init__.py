"""The penguin of the cast."""
