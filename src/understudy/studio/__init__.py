"""The service behind the browser: one page, one WebSocket; Python is the single source of truth."""
