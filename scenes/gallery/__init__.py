"""The kit's parts, one a page, to choose from and to check by eye: ``python render.py stills gallery --sheet``."""
