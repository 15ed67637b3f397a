"""The reference deck, one module a section."""
