"""The edit mode: the curves of a clip are dragged, constrained, posed and keyed from the page."""
