"""The renderer in NumPy, for machines without OpenGL."""
