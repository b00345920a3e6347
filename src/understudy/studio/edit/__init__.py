"""The edit mode of the studio: curves of a clip, dragged, held, posed and keyed from the page."""
