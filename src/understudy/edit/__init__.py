"""Edit: drag the in-betweens, not the tangents [Ciccone 2019]."""
