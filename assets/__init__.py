"""How the built-in characters are made; README.md tells how to build them. Not a part of the installed package."""
