"""The drawn pets: the same seed gives the same picture, breeds differ, and the named places hold what they say."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from vit_data.standin import draw as pets


def as_the_model_sees(original: np.ndarray) -> np.ndarray:
    """timm's evaluation transform before normalising: shorter side to 248 (bicubic), middle 224 x 224."""
    image = Image.fromarray(original)
    w, h = image.size
    image = image.resize((round(w * 248 / h), 248), Image.Resampling.BICUBIC)
    left, top = round((image.width - 224) / 2), 12
    return np.asarray(image.crop((left, top, left + 224, top + 224)))


def patch(picture: np.ndarray, number: int) -> np.ndarray:
    row, column = divmod(number - 1, 14)
    return picture[16 * row:16 * row + 16, 16 * column:16 * column + 16].astype(float)


@pytest.fixture(scope="module")
def originals() -> dict[str, np.ndarray]:
    return {"dog": pets.lecture_dog(), "cat": pets.lecture_cat()}


@pytest.fixture(scope="module")
def dog(originals) -> np.ndarray:
    return as_the_model_sees(originals["dog"])


@pytest.fixture(scope="module")
def cat(originals) -> np.ndarray:
    return as_the_model_sees(originals["cat"])


def test_same_seed_same_pixels_other_seed_other_picture():
    first, again, other = (pets.draw("tabby", seed) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert np.abs(first.astype(int) - other).mean() > 5


@pytest.mark.parametrize("size", [112, 224, 300])
def test_size_and_type(size):
    picture = pets.draw("pug", 1, size)
    assert picture.shape == (size, size, 3) and picture.dtype == np.uint8 and picture.flags.c_contiguous


def test_every_breed_can_be_drawn_and_uses_the_range():
    for key in pets.BREEDS:
        picture = pets.draw(key, 3, 112)
        assert picture.std() > 15, key


def test_a_small_picture_shows_the_same_scene():
    large = pets.draw("siamese", 9).astype(float).reshape(112, 2, 112, 2, 3).mean((1, 3))
    small = pets.draw("siamese", 9, 112).astype(float)
    assert np.abs(large - small).mean() < 12


def test_classes_are_imagenet_ones_and_distinct():
    indices = [breed.index for breed in pets.TRAINED]
    assert len(set(indices)) == len(indices) >= 12
    assert {256, 244, 226, 257, 258, 254, 283, 284, 285, 332} <= set(indices)
    assert all(breed.label and breed.species in ("dog", "cat", "rabbit") for breed in pets.BREEDS.values())


def test_black_and_white_breeds_differ_in_the_middle():
    def middle(key):
        return np.mean([pets.draw(key, seed, 112)[40:72, 40:72].mean() for seed in range(6)])

    assert middle("newfoundland") < 90 < middle("great_pyrenees")
    assert middle("newfoundland") < middle("golden_retriever") < middle("samoyed")


def test_originals_are_landscape_and_fixed(originals):
    assert originals["dog"].shape == originals["cat"].shape == (480, 640, 3)
    again = pets.gallery(64)
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(pets.gallery(64), again))
    assert pets.story_square(originals["dog"]).shape == (434, 434, 3)


@pytest.mark.parametrize("animal", ["dog", "cat"])
def test_places_are_patches(animal):
    names = {"nose", "face", "ear", "other_ear", "chest", "background", "corner", "dark_patch", "branches"}
    assert set(pets.PLACES[animal]) == names
    assert all(1 <= number <= 196 for number in pets.PLACES[animal].values())


def test_the_dogs_places_are_the_storys():
    places = pets.DOG_PLACES
    assert [places[name] for name in ("nose", "face", "ear", "other_ear", "chest", "background", "corner")] == [
        63, 64, 74, 82, 147, 182, 1]


def test_the_dogs_coat_is_dark_and_what_is_behind_it_light(dog):
    places = pets.DOG_PLACES
    for name in ("nose", "face", "ear", "other_ear", "chest", "dark_patch"):
        assert patch(dog, places[name]).mean() < 70, name
    for number in (places["background"], places["corner"], 14, 183, 196):
        assert patch(dog, number).mean() > 60, number
        assert patch(dog, number).mean((0, 1)).argmax() == 1, f"P{number} should be green"


def test_the_black_coat_is_not_flat(dog):
    for name in ("ear", "other_ear", "chest"):
        assert patch(dog, pets.DOG_PLACES[name]).mean(2).std() > 4, name


def test_the_branches_are_busier_than_the_plain_background(dog):
    places = pets.DOG_PLACES
    assert patch(dog, places["branches"]).std((0, 1)).mean() > 2 * patch(dog, places["corner"]).std((0, 1)).mean()


def test_the_cats_face_is_pale_and_its_nose_pink(cat):
    places = pets.CAT_PLACES
    assert patch(cat, places["face"]).mean() > 120
    nose = patch(cat, places["nose"])
    assert (nose[..., 0] - nose[..., 1]).max() > 60
    blue = patch(cat, 15).mean((0, 1))
    assert blue[2] > blue[0], "the sofa is blue"


def test_gallery_has_six_named_pets():
    found = pets.gallery(112)
    assert [one.name for one in found] == ["Newfoundland", "pug", "Great Pyrenees", "Persian cat", "Sphynx-like",
                                           "Birman-like"]
    assert all(one.pixels.shape == (112, 112, 3) for one in found)
    assert [one.index for one in found] == [256, 254, 257, 283, None, None]


def test_drawing_needs_no_torch():
    code = "import sys, vit_data.standin.draw; assert not {'torch', 'timm', 'manim', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
