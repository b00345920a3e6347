"""The dragon: head and neck of a young dragon, moved by a film-like face rig."""
