"""The solver of edits: its problem, quadratic programs, diagnosis and suggestions."""
