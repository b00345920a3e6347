"""The web studio: one page, one WebSocket; the server holds the state."""
