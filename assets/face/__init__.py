"""The face: a head of this project's own making with ARKit's 52 shapes and 68 landmarks."""
