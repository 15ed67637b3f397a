"""The stand-in: drawn pets and a small checkpoint trained on them, for a machine without a network."""
