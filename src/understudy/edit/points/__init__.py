"""Position and orientation of points of a character, with derivatives by the columns of an animation."""
