"""What the browser and the server say to each other: frozen dataclasses, which generate the browser's types."""
