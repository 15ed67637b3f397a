"""Drawn pets: deterministic pictures for the stand-in checkpoint and for a lecture without a network.

    draw("pug", seed=7)      one picture, uint8 (224, 224, 3)
    lecture_dog()            the story's dog as a landscape original, uint8 (480, 640, 3)
    DOG_PLACES["nose"]       63: which patch of the story's dog holds its nose
    gallery()                six pets with their names

Only pycairo and numpy are needed.
"""

from .breeds import BREEDS, TRAINED, Breed
from .picture import draw
from .story import CAT_PLACES, DOG_PLACES, PLACES, Drawing, gallery, lecture_cat, lecture_dog, story_square

__all__ = ["BREEDS", "CAT_PLACES", "DOG_PLACES", "PLACES", "TRAINED", "Breed", "Drawing", "draw", "gallery", "lecture_cat",
           "lecture_dog", "story_square"]
