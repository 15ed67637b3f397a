"""The main lecture, one module a section."""
