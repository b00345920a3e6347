"""A studio in a process of its own, and a page without a browser that measures it."""
