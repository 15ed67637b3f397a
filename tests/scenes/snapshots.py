"""Comparing with committed files: the texts of slides (test_slides/) and a still of every part of the kit (test_snapshots/)."""

ACCEPT = ("If the change is meant, look at it and accept it with: "
          "python -m pytest -n 0 tests/scenes/test_slides.py tests/scenes/test_snapshots.py -k accepted --regen-all")


def compare(regression, content, **options):
    """Check through a fixture of pytest-regressions; a failure says how to accept the change."""
    __tracebackhide__ = True
    try:
        regression.check(content, **options)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{ACCEPT}") from None


def page_text(page):
    """A slide's texts (see scenes.kit.check.texts), a string a line."""
    notes = " ".join(page["notes"].split())
    strings = "".join(f"  · {line}\n" for string in page["texts"] for line in string.split("\n"))
    return f"{page['route']}  {page['title']}\n{strings}  caption: {page['caption']}\n  notes: {notes}\n\n"
