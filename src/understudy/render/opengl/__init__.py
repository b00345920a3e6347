"""The renderer with OpenGL."""
