"""What goes along with a film and what is handed out: chapters, subtitles, decks to click through, a PDF. Each is opened and read back."""

import re
import shutil

import av
import pytest
import render
from click.testing import CliRunner
from PIL import Image
from scenes import decks, film, handouts, tracks
from scenes.kit.talk import Talk
from vit_data import figures, run as runs

ROUTES = ("lecture/s01/2", "lecture/s04/1")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two pages of the lecture as films, joined, and every handout of them."""
    folder = tmp_path_factory.mktemp("media")
    before, render.MEDIA = render.MEDIA, folder
    try:
        for words in (["video"], ["deck", "--to", "pdf"], ["deck", "--to", "html", "--to", "pptx"]):
            done = CliRunner().invoke(render.main, [*words, *ROUTES, "--run", "standin", *(["--quality", "preview"] if words != ["deck", "--to", "pdf"] else [])])
            assert done.exit_code == 0, done.output
    finally:
        render.MEDIA = before
    return folder / "standin"


@pytest.fixture(scope="module")
def joined(made):
    return next((made / "preview").glob("*.mp4"))


@pytest.fixture(scope="module")
def run():
    return runs.load("standin")


def said(route, run):
    return handouts.page(route, run).passages


def test_chapters_cover_the_film_and_carry_the_sections(joined):
    with av.open(str(joined)) as source:
        chapters = [(float(c["start"] * c["time_base"]), float(c["end"] * c["time_base"]), c["metadata"]["title"]) for c in source.chapters()]
    assert [c[2] for c in chapters] == [decks.section(r).name for r in ROUTES]
    assert chapters[0][0] == 0 and chapters[0][1] == chapters[1][0]
    assert chapters[-1][1] == pytest.approx(float(film.duration(joined)), abs=0.1)


def test_the_film_says_which_run_it_shows(joined, run):
    with av.open(str(joined)) as source:
        assert source.metadata["comment"] == figures.describe(run) and "stand-in" in source.metadata["comment"]
        assert "lecture-s01-2" in source.metadata["title"]


def test_subtitles_are_what_is_said_when_it_is_shown(joined, made, run):
    srt = joined.with_suffix(".srt").read_text(encoding="utf-8")
    blocks = [b.split("\n", 2) for b in srt.strip().split("\n\n")]
    assert [int(b[0]) for b in blocks] == list(range(1, len(blocks) + 1))
    text = " ".join(" ".join(b[2].split()) for b in blocks)
    assert text == " ".join(" ".join(said(route, run)) for route in ROUTES)
    assert all(len(line) <= 52 for b in blocks for line in b[2].split("\n")) and all(len(b[2].split("\n")) <= 3 for b in blocks)
    times = [[sum(float(x) * f for x, f in zip(t.replace(",", ".").split(":"), (3600, 60, 1))) for t in b[1].split(" --> ")] for b in blocks]
    assert all(a < b for a, b in times) and all(b[0] >= a[1] - 0.002 for a, b in zip(times, times[1:]))
    starts, _ = tracks.step_times(made / "preview/lecture/s01/2.mp4")
    first_words = [p.split()[0] for p in said(ROUTES[0], run)]
    for start, word in zip(starts, first_words, strict=True):  # each passage begins with its step
        assert any(abs(t[0] - start) < 0.01 and b[2].split()[0] == word for t, b in zip(times, blocks))
    with av.open(str(joined)) as source:
        payloads = [bytes(p) for p in source.demux(source.streams.subtitles[0]) if p.size > 2]
    assert [" ".join(p[2 : 2 + int.from_bytes(p[:2], "big")].decode().split()) for p in payloads] == [" ".join(b[2].split()) for b in blocks]


def test_a_page_lasts_as_long_as_it_takes_to_say(made, run):
    for route in ROUTES:
        slide = decks.slides()[route]
        page = slide.unbuilt(run)
        assert issubclass(slide, Talk)
        _, length = tracks.step_times(made / f"preview/{route}.mp4")
        assert page.seconds - 1 <= length <= 1.35 * page.seconds + 4


def test_the_poster_is_the_first_page(joined):
    with Image.open(joined.with_suffix(".jpg")) as poster:
        assert poster.size == (854, 480) and poster.convert("L").getextrema()[0] < 60


def test_a_film_is_cut_where_its_steps_begin(made, tmp_path):
    whole = made / "preview/lecture/s04/1.mp4"
    parts = film.cut(whole, tmp_path)
    starts, length = tracks.step_times(whole)
    assert len(parts) == len(starts) == 3
    lengths = [float(film.duration(p)) for p in parts]
    assert lengths == pytest.approx([b - a for a, b in zip(starts, [*starts[1:], length])], abs=0.08)
    for part in parts:
        with av.open(str(part)) as source:
            assert next(source.decode(video=0)).key_frame


def test_pdf_has_pages_notes_and_bookmarks(made, run):
    pypdf = pytest.importorskip("pypdf")
    book = pypdf.PdfReader(next(made.glob("*.pdf")))
    assert len(book.pages) == 2 * len(ROUTES)
    outline = [item for part in book.outline for item in (part if isinstance(part, list) else [part])]
    assert [item.title for item in outline] == [x for r in ROUTES for x in (decks.section(r).name, handouts.page(r, run).title)]
    for i, route in enumerate(ROUTES):
        assert len(book.pages[2 * i].images) == 1 and book.pages[2 * i].images[0].image.size == (1920, 1080)
        text = " ".join(book.pages[2 * i + 1].extract_text().split())
        assert handouts.page(route, run).title in text and said(route, run)[-1].split(". ")[0] in text
    assert figures.describe(run) in book.metadata.subject


def test_powerpoint_has_a_slide_a_step_with_its_notes(made, run):
    pptx = pytest.importorskip("pptx")
    slides = list(pptx.Presentation(str(next(made.glob("*.pptx")))).slides)
    passages = [p for route in ROUTES for p in said(route, run)]
    assert len(slides) == len(passages)
    for slide, passage in zip(slides, passages):
        assert passage in slide.notes_slide.notes_text_frame.text
        assert any(shape.shape_type == pptx.enum.shapes.MSO_SHAPE_TYPE.MEDIA for shape in slide.shapes)


def test_html_deck_needs_nothing_else(made, run):
    text = next(made.glob("*.html")).read_text(encoding="utf-8")
    assert text.count('data-background-video="data:video/mp4;base64,') == sum(len(said(r, run)) for r in ROUTES)
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r'(src|href)="https?:', outside)


@pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")), reason="needs Debian's chromium and chromium-driver")
def test_html_deck_steps_and_shows_notes_in_a_browser(made, run):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1000,640", "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(word)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        browser.get(next(made.glob("*.html")).as_uri())
        WebDriverWait(browser, 30).until(lambda b: b.execute_script("return window.Reveal && Reveal.isReady()"))
        passages = [p for route in ROUTES for p in said(route, run)]
        assert browser.execute_script("return Reveal.getTotalSlides()") == len(passages)
        playing = "const v = document.querySelector('.slide-background.present video'); return v && v.readyState >= 2 && !v.error && v.videoWidth"
        for i, passage in enumerate(passages[:3]):
            assert browser.execute_script("return Reveal.getIndices().h") == i
            assert passage in browser.execute_script("return Reveal.getSlideNotes()").replace("&amp;", "&")
            assert WebDriverWait(browser, 30).until(lambda b: b.execute_script(playing)) == 854
            browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
        browser.find_element(By.TAG_NAME, "body").send_keys("s")
        WebDriverWait(browser, 30).until(lambda b: len(b.window_handles) == 2)
    finally:
        browser.quit()


def test_a_deck_without_its_library_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(render, "find_spec", lambda name: None)
    done = CliRunner().invoke(render.main, ["deck", ROUTES[0]])
    assert done.exit_code == 2 and "pip install -e '.[present]'" in done.stderr and done.stderr.count("\n") == 1


def test_long_sentences_become_readable_subtitles():
    text = "One. " + " ".join(["word"] * 60) + ". An end"
    blocks = tracks.split(text)
    assert " ".join(" ".join(blocks).split()) == text
    assert all(len(block.split("\n")) <= 2 for block in blocks) and blocks[0] == "One."
