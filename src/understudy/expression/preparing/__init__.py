"""Preparing takes of a face for a graph: aligned, cleaned, come back to neutral, and as few landmarks as are needed."""
