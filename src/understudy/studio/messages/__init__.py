"""The messages between browser and server: frozen dataclasses, which generate the browser's types."""
