"""Any picture becomes the upright RGB that the model sees; the lecture's photographs come from their archive."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from vit_data import photos
from vit_data.photos import PhotoError
from vit_data.story import PLACES, check_place

SIZE = (64, 48)  # width, height


@pytest.fixture
def ramp() -> np.ndarray:
    """Grey from 0 at the left to 255 at the right, 48 × 64."""
    return np.tile(np.linspace(0, 255, SIZE[0]), (SIZE[1], 1)).round().astype(np.uint8)


def opened(image: Image.Image, tmp_path: Path, kind: str = "png", **options: object) -> np.ndarray:
    path = tmp_path / f"picture.{kind}"
    image.save(path, **options)
    picture = photos.from_file(path, "dog")
    assert picture.image.mode == "RGB"
    return np.asarray(picture.image).astype(int)


def test_greyscale(ramp: np.ndarray, tmp_path: Path) -> None:
    assert (opened(Image.fromarray(ramp), tmp_path) == ramp[..., None]).all()


@pytest.mark.parametrize("kind", ["png", "tiff"])
def test_sixteen_bit_grey_is_scaled_and_not_clipped(kind: str, ramp: np.ndarray, tmp_path: Path) -> None:
    deep = Image.fromarray(ramp.astype(np.uint16) * 257)
    assert deep.mode == "I;16"
    assert (opened(deep, tmp_path, kind) == ramp[..., None]).all()


def test_other_deep_modes(ramp: np.ndarray) -> None:
    assert (np.asarray(photos.to_rgb(Image.fromarray(ramp.astype(np.int32) * 257)))[..., 0] == ramp).all()
    for top in (1.0, 255.0, 65535.0, 1e6):
        image = Image.fromarray((ramp / 255 * top).astype(np.float32))
        assert image.mode == "F"
        assert (np.abs(np.asarray(photos.to_rgb(image)).astype(int)[..., 0] - ramp) <= 1).all()


def test_palette_and_bilevel(ramp: np.ndarray, tmp_path: Path) -> None:
    colour = Image.fromarray(np.stack([ramp, ramp[:, ::-1], 255 - ramp // 2], axis=-1))
    palette = colour.quantize(64)
    assert (opened(palette, tmp_path) == np.asarray(palette.convert("RGB"))).all()
    assert set(np.unique(opened(Image.fromarray(ramp).convert("1"), tmp_path))) == {0, 255}


def test_cmyk(ramp: np.ndarray, tmp_path: Path) -> None:
    flat = Image.merge("CMYK", [Image.new("L", SIZE, v) for v in (255, 0, 255, 0)])  # cyan and yellow ink: green
    red, green, blue = opened(flat, tmp_path, "tiff")[10, 10]
    assert green > 200 > 60 > max(red, blue)


def test_alpha_is_laid_over_white(ramp: np.ndarray, tmp_path: Path) -> None:
    black = np.zeros_like(ramp)
    seen = opened(Image.fromarray(np.stack([black, black, black, ramp], axis=-1)), tmp_path)
    assert (np.abs(seen[..., 0] - (255 - ramp.astype(int))) <= 1).all()
    seen = opened(Image.fromarray(np.stack([black, ramp], axis=-1), "LA"), tmp_path)
    assert (np.abs(seen[..., 0] - (255 - ramp.astype(int))) <= 1).all()


def test_transparent_palette_and_colour_key(tmp_path: Path) -> None:
    image = Image.new("P", SIZE, 0)
    image.putpalette([200, 0, 0, 0, 0, 200])
    image.paste(1, (0, 0, 32, 48))
    seen = opened(image, tmp_path, transparency=0)
    assert tuple(seen[5, 60]) == (255, 255, 255) and tuple(seen[5, 5]) == (0, 0, 200)
    seen = opened(Image.new("RGB", SIZE, (9, 9, 9)), tmp_path, transparency=(9, 9, 9))
    assert (seen == 255).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(orientation: int, tmp_path: Path) -> None:
    upright = Image.new("RGB", SIZE, "white")
    upright.paste((255, 0, 0), (0, 0, 32, 24))  # red at the top left
    turns = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
             6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_270}
    stored = upright.transpose(turns[orientation]) if orientation in turns else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    seen = opened(stored, tmp_path, exif=exif)
    assert (seen == np.asarray(upright)).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "LA", "PA", "RGBX", "RGBa", "La", "I;16", "I;16B"])
def test_every_mode_ends_as_rgb(mode: str) -> None:
    image = photos.to_rgb(Image.new(mode, SIZE))
    assert image.mode == "RGB" and image.size == SIZE


@pytest.mark.parametrize(("size", "expected"), [((31, 200), "needs at least 32"), ((200, 31), "needs at least 32"), ((40, 1300), "at most 30 times")])
def test_sizes_that_are_refused(size: tuple[int, int], expected: str, tmp_path: Path) -> None:
    with pytest.raises(PhotoError, match=expected):
        opened(Image.new("L", size), tmp_path)


def test_smallest_size(tmp_path: Path) -> None:
    assert opened(Image.new("L", (32, 32)), tmp_path).shape == (32, 32, 3)


def test_unreadable_files(tmp_path: Path) -> None:
    whole = io.BytesIO()
    Image.effect_noise((300, 300), 80).convert("RGB").save(whole, "JPEG")
    for name, content in {"text.jpg": b"no picture", "empty.png": b"", "cut.jpg": whole.getvalue()[:4000]}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PhotoError, match="can't be read as a picture"):
            photos.from_file(tmp_path / name, "dog")
    for path in (tmp_path, tmp_path / "nowhere.jpg"):
        with pytest.raises(PhotoError, match="can't be opened"):
            photos.from_file(path, "dog")


def test_damaged_files_give_a_picture_or_a_sentence(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    colour = Image.effect_noise(SIZE, 90).convert("RGB")
    for kind in ("png", "jpeg", "tiff", "gif", "webp", "bmp"):
        whole = io.BytesIO()
        colour.save(whole, kind)
        for _ in range(60):
            content = bytearray(whole.getvalue())
            for place in rng.integers(0, len(content), 4):
                content[place] = rng.integers(256)
            try:
                assert photos.upright_rgb(bytes(content), "x").mode == "RGB"
            except PhotoError as error:
                assert "\n" not in str(error)


def test_decompression_bomb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(PhotoError, match="more pixels than can be opened safely"):
        opened(Image.new("L", SIZE), tmp_path)


def test_names_of_user_pictures(tmp_path: Path) -> None:
    Image.new("L", SIZE).save(tmp_path / "Rex & Bella (2).png")
    picture = photos.from_file(tmp_path / "Rex & Bella (2).png", "cat")
    assert (picture.id, picture.kind, picture.known) == ("Rex_Bella_2", "photograph", None)
    assert picture.places["nose"] == 63 and not picture.is_lecture


def test_drawings_stand_in_for_the_lectures_photographs() -> None:
    for species, known in (("dog", 256), ("cat", 283)):
        picture = photos.picture("standin", species)
        assert (picture.kind, picture.known, picture.image.mode) == ("drawing", known, "RGB") and min(picture.image.size) >= 224
        assert set(picture.places) == set(PLACES) and not picture.is_lecture
        for part, patch in picture.places.items():
            check_place(part, patch)


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small archive as the dataset's own is laid out, and lecture photographs that it holds."""
    path = tmp_path / "images.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in ("Abyssinian_1", "Persian_98", "newfoundland_31", "yorkshire_terrier_9"):
            content = io.BytesIO()
            Image.effect_noise(SIZE, 50).save(content, "JPEG")
            info = tarfile.TarInfo(f"images/{name}.jpg")
            info.size = len(content.getvalue())
            tar.addfile(info, io.BytesIO(content.getvalue()))
            for species, photo in list(photos.LECTURE.items()):
                if photo.id == name:
                    monkeypatch.setitem(photos.LECTURE, species, replace(photo, sha256=hashlib.sha256(content.getvalue()).hexdigest()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("VIT_DATA_PETS_URL", path.as_uri())
    return path


def test_fetching_the_lectures_photographs(archive: Path) -> None:
    assert photos.missing(["dog", "cat"]) == ["dog", "cat"]
    photos.check_network(["dog", "cat"])
    heard: list[tuple[int, int]] = []
    photos.fetch(["dog", "cat"], lambda read, total: heard.append((read, total)))
    assert heard and heard[-1][1] == archive.stat().st_size
    assert photos.missing(["dog", "cat"]) == []
    picture = photos.picture("lecture", "dog")
    assert (picture.id, picture.known, picture.known_label, picture.is_lecture) == ("newfoundland_31", 256, "Newfoundland", True)
    archive.unlink()
    photos.fetch(["dog", "cat"])  # from the cache
    copy = archive.with_name("anything.jpg")
    copy.write_bytes(photos.cached("cat").read_bytes())
    assert photos.from_file(copy, "cat").id == "Persian_98"


def test_a_damaged_cache_is_fetched_again(archive: Path) -> None:
    photos.fetch(["dog"])
    photos.cached("dog").write_bytes(b"half")
    assert photos.missing(["dog", "cat"]) == ["dog", "cat"]
    photos.fetch(["dog"])
    assert photos.missing(["dog"]) == []


def test_archives_that_do_not_help(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PhotoError, match="could not be downloaded"):
        photos.fetch(["dog", "cat"])
    archive.write_bytes(whole)
    monkeypatch.setitem(photos.LECTURE, "dog", replace(photos.LECTURE["dog"], sha256="0" * 64))
    with pytest.raises(PhotoError, match="differs from the lecture's photograph"):
        photos.fetch(["dog"])
    monkeypatch.setitem(photos.LECTURE, "dog", replace(photos.LECTURE["dog"], id="elsewhere"))
    with pytest.raises(PhotoError, match="does not hold elsewhere.jpg"):
        photos.fetch(["dog"])
