"""The lab page in a real browser: its arithmetic against numpy, the nine presets, keys, names for a screen reader.

Needs Debian's packages chromium and chromium-driver; without them these tests are skipped and say so.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

import render
from scenes import labpage
from scenes.kit import num, pct
from vit_data import examples, lab_tensors, run as runs
from vit_data.examples import EXAMPLES

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
RUN = runs.load("standin")
browser = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium here: apt-get install chromium chromium-driver")


@pytest.fixture(scope="module")
def chrome():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,800", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


def visit(chrome: webdriver.Chrome, path: Path, address: str = "") -> webdriver.Chrome:
    """Open a page from disk and wait until its tensors are unpacked."""
    chrome.get("about:blank")
    chrome.get(path.as_uri() + address)
    chrome.execute_async_script("window.lab.ready.then(() => arguments[0](), (e) => arguments[0](String(e)))")
    return chrome


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lab") / "lab.html"
    result = CliRunner().invoke(render.main, ["lab", "--run", "standin", "--out", str(path)])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(str(path)) and path.stat().st_size < 8_000_000
    return path


@pytest.fixture
def page(chrome: webdriver.Chrome, file: Path) -> webdriver.Chrome:
    return visit(chrome, file)


def one(page: webdriver.Chrome, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


def text(page: webdriver.Chrome, selector: str) -> str:
    return one(page, selector).text


def state(page: webdriver.Chrome) -> dict:
    return page.execute_script("return {...window.lab.state}")


def cell(page: webdriver.Chrome, patch: int) -> WebElement:
    return one(page, f"#grid [data-row='{patch}']")


def number(shown: str) -> float:
    return float(shown.replace("−", "-").rstrip("%"))


def truth(tensors: lab_tensors.LabTensors, kind: str, picture: int, block: int, head: int, query: int) -> np.ndarray:
    """The same row by numpy."""
    if kind == "attention":
        q, k = (part.levels[picture, block, head] * part.steps[picture, block, head].astype(float) for part in (tensors.q, tensors.k))
        scores = k @ q[query] / 8
        return np.exp(scores) / np.exp(scores).sum()
    features = tensors.features.levels[picture, block] * tensors.features.steps[picture, block].astype(float)
    return features @ features[query] / np.linalg.norm(features, axis=1) / np.linalg.norm(features[query])


def compare(page: webdriver.Chrome, tensors: lab_tensors.LabTensors, many: int) -> None:
    random = np.random.default_rng(10)
    rows = [("attention" if i % 2 else "similarity", *(int(random.integers(n)) for n in (2, 12, 3, 197))) for i in range(many)]
    rows[:4] = [("attention", 0, 11, 0, 0), ("similarity", 1, 0, 0, 196), ("attention", 1, 11, 2, 196), ("similarity", 0, 11, 0, 0)]
    computed = page.execute_script("""return arguments[0].map(([kind, picture, block, head, query]) => kind === "attention"
        ? window.lab.weights(picture, block + 1, head + 1, query) : window.lab.cosines(picture, block + 1, query))""", rows)
    for row, values in zip(rows, computed, strict=True):
        assert len(values) == 197
        np.testing.assert_allclose(values, truth(tensors, *row), rtol=0, atol=1e-12, err_msg=str(row))
        if row[0] == "attention":
            assert sum(values) == pytest.approx(1, abs=1e-12)


@browser
def test_two_hundred_rows_against_numpy(page: webdriver.Chrome) -> None:
    compare(page, lab_tensors.load(RUN), 200)


@browser
def test_levels_of_three_bytes(chrome: webdriver.Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = lab_tensors.load(RUN)
    fine = replace(stored, q=lab_tensors.Levels.of(stored.q.values(), 20), k=lab_tensors.Levels.of(stored.k.values(), 17))
    monkeypatch.setattr(lab_tensors, "load", lambda _: fine)
    path = tmp_path / "fine.html"
    path.write_text(labpage.build(RUN), encoding="utf-8")
    compare(visit(chrome, path), fine, 20)


@browser
def test_nine_presets(page: webdriver.Chrome) -> None:
    buttons = page.find_elements(By.CSS_SELECTOR, "#presets button")
    assert len(buttons) == len(EXAMPLES)
    for i, (button, example) in enumerate(zip(buttons, EXAMPLES, strict=True)):
        button.click()
        found, attention = example.find(RUN), example.kind == "attention"
        assert example.title(RUN) in button.text
        assert [b.get_attribute("aria-current") for b in buttons] == ["true" if j == i else None for j in range(9)]
        assert text(page, "#badge") == f"Query {found.query}" and text(page, "#lesson") == example.lesson
        # the strongest source is the run's, and its number is at most the last digit off
        query, strongest = (b.text for b in page.find_elements(By.CSS_SELECTOR, "#said b:not(.v)"))
        assert (query, strongest) == (found.query, found.strongest)
        value, unit = (found.strongest_weight * 100, 0.0101) if attention else (found.strongest_value, 0.00101)
        assert number(text(page, "#said b.v")) == pytest.approx(value, abs=unit)
        values = found.values[1:] if attention else found.values
        listed = [(name, value) for name, value in examples.top_sources(values, found.query, 6)]
        shown = [line.text.split() for line in page.find_elements(By.CSS_SELECTOR, "#sources tbody tr")]
        shown = [(words[0], number(words[-1])) for words in shown if "itself" not in words]
        for (name, value), (their, printed) in zip(listed, shown):
            assert printed == pytest.approx(value * (100 if attention else 1), abs=unit)
            assert their == name or min(abs(value - v) for n, v in listed if n != name) < 1e-3
        if attention:
            assert text(page, "#high") == f"{pct(found.largest)} (largest)" and text(page, "#low") == "0"
            parts = [float(p) for p in re.findall(r"([\d.]+)% [+=]", text(page, "#sum-text"))]
            assert round(sum(parts), 2) == 100 and parts[0] == pytest.approx(100 * found.cls_weight, abs=0.0101)
            assert text(page, "#cls-value") in (f"CLS {pct(found.cls_weight)}", "CLS <0.01%")
        else:
            assert (text(page, "#low"), text(page, "#high")) == (num(-1, 0), "1")


@browser
def test_the_working_closes(page: webdriver.Chrome) -> None:
    visit(page, Path(page.current_url.split("#")[0].removeprefix("file://")), "#cat/attention/7/2/P92")
    page.find_elements(By.CSS_SELECTOR, "#sources button")[1].click()
    score, largest, power, total, weight = (number(d.text) for d in page.find_elements(By.CSS_SELECTOR, "#working dd"))
    assert np.exp(score - largest) == pytest.approx(power, rel=0.01)
    assert 100 * power / total == pytest.approx(weight, abs=0.0101)
    assert weight == number(page.find_elements(By.CSS_SELECTOR, "#sources td")[1].text)
    one(page, "#kinds input[value=similarity]").send_keys(Keys.SPACE)
    product, a, b, cosine = (number(d.text) for d in page.find_elements(By.CSS_SELECTOR, "#working dd"))
    assert product / a / b == pytest.approx(cosine, abs=0.00101)


@browser
def test_mouse_and_keys_move_the_query(page: webdriver.Chrome) -> None:
    box = one(page, ".picture").rect
    step = box["width"] / 14
    x, y = (round(-box["width"] / 2 + n * step) for n in (3.5, 5.5))  # from the middle of the picture to that of P74
    ActionChains(page).move_to_element_with_offset(one(page, ".picture"), x, y).click().perform()
    assert state(page)["query"] == 74 and text(page, "#place") == "row 6, column 4"
    for key, query in ((Keys.ARROW_RIGHT, 75), (Keys.ARROW_DOWN, 89), (Keys.ARROW_LEFT, 88), (Keys.ARROW_UP, 74), (Keys.HOME, 71), (Keys.ARROW_LEFT, 71),
                       (Keys.END, 84), (Keys.PAGE_DOWN, 196), (Keys.ARROW_DOWN, 196), (Keys.PAGE_UP, 14)):
        page.switch_to.active_element.send_keys(key)
        assert state(page)["query"] == query
        assert page.switch_to.active_element.get_attribute("data-row") == str(query)
    one(page, "#cls").click()
    assert state(page)["query"] == 0 and one(page, "#cls").get_attribute("aria-pressed") == "true" and not one(page, "#mark").is_displayed()
    one(page, "#cls").click()
    assert state(page)["query"] > 0


@browser
def test_everything_can_be_chosen_by_keyboard(page: webdriver.Chrome) -> None:
    chosen = one(page, "#kinds input:checked")
    chosen.send_keys(Keys.ARROW_LEFT)
    assert state(page)["kind"] == "attention"
    one(page, "#pictures input:checked").send_keys(Keys.ARROW_RIGHT)
    one(page, "#heads input:checked").send_keys(Keys.ARROW_RIGHT)
    one(page, "#blocks input:checked").send_keys(Keys.ARROW_LEFT)
    now = state(page)
    assert (now["picture"], now["head"], now["block"]) == (1, 2, 11)
    assert text(page, "#said").startswith("Block 11, head 2: ")
    assert page.execute_script("return location.hash") == f"#cat/attention/11/2/P{now['query']}"
    seen = set()
    for _ in range(40):  # Tab reaches every kind of control, the picture as one stop
        page.switch_to.active_element.send_keys(Keys.TAB)
        seen.add(page.execute_script("return document.activeElement.closest('[id]')?.id"))
    assert {"presets", "cls", "grid", "bare", "pictures", "kinds", "heads", "blocks", "walk", "sources"} <= seen


@browser
def test_a_screen_reader_has_names(page: webdriver.Chrome) -> None:
    for element in page.find_elements(By.CSS_SELECTOR, "button, input, [role=grid], table"):
        assert element.accessible_name.strip(), element.get_attribute("outerHTML")
    assert {e.accessible_name for e in page.find_elements(By.TAG_NAME, "fieldset")} == {"Picture", "Show", "Head", "Block"}
    values = page.execute_script("const {picture, block, query} = window.lab.state; return window.lab.cosines(picture, block, query)")
    assert cell(page, 63).accessible_name == f"P63, row 5, column 7: {num(values[63])}"
    assert cell(page, int(state(page)["query"])).get_attribute("aria-selected") == "true"
    assert len(page.find_elements(By.CSS_SELECTOR, "#grid [tabindex='0']")) == 1
    assert one(page, "#said").get_attribute("aria-live") == "polite"
    ids = [e.get_attribute("id") for e in page.find_elements(By.CSS_SELECTOR, "[id]")]
    assert len(ids) == len(set(ids))


@browser
def test_nothing_is_loaded_and_nothing_complains(page: webdriver.Chrome) -> None:
    page.get_log("browser")
    visit(page, Path(page.current_url.split("#")[0].removeprefix("file://")))
    assert [e for e in page.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)") if not e.startswith("data:")] == []
    assert [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


@browser
@pytest.mark.parametrize("width", [360, 390, 768, 1024, 1280, 1920])
def test_no_width_scrolls_sideways(page: webdriver.Chrome, width: int) -> None:
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})
    try:
        for button in page.find_elements(By.CSS_SELECTOR, "#presets button"):
            page.execute_script("arguments[0].click()", button)
            assert page.execute_script("return document.documentElement.scrollWidth") <= width
        if width == 1280:
            assert page.execute_script("return document.documentElement.scrollHeight") <= 800
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@browser
@pytest.mark.parametrize(("address", "expected"), [
    ("#cat/attention/3/2/P9", (1, "attention", 3, 2, 9)),
    ("#dog/similarity/1/1/CLS", (0, "similarity", 1, 1, 0)),
    ("#fish/smell/13/0/P197", (0, "similarity", 12, 1, 182)),
    ("#%E0%A4%A/<script>/1e3/-1/P", (0, "similarity", 12, 1, 182)),
    ("#///", (0, "similarity", 12, 1, 182)),
])
def test_an_address_names_a_map(chrome: webdriver.Chrome, file: Path, address: str, expected: tuple) -> None:
    now = state(visit(chrome, file, address))
    assert tuple(now[key] for key in ("picture", "kind", "block", "head", "query")) == expected


@browser
def test_walking_and_the_bare_picture(page: webdriver.Chrome) -> None:
    one(page, "#walk").click()
    assert state(page)["block"] == 1 and one(page, "#walk").get_attribute("aria-pressed") == "true"
    one(page, "#walk").click()
    assert one(page, "#walk").get_attribute("aria-pressed") == "false"
    one(page, "#bare").click()
    assert not one(page, "#map").is_displayed()
    one(page, "#bare").click()
    assert one(page, "#map").is_displayed()


def test_a_label_can_not_break_the_page() -> None:
    best = RUN.cat.prediction.top[0].model_copy(update={"label": "</script><b>Manx & <!--js-->"})
    prediction = RUN.cat.prediction.model_copy(update={"top": [best, *RUN.cat.prediction.top[1:]]})
    page = labpage.build(RUN.model_copy(update={"cat": RUN.cat.model_copy(update={"prediction": prediction})}))
    assert page.count("</script>") == 3 and page.rstrip().endswith("</html>")
    document = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert document["pictures"][1]["label"] == best.label


@pytest.mark.parametrize(("words", "said"), [
    (["--run", "published"], "hold no q, k and features.*python -m vit_data measure"),
    (["--run", "standin", "--out", "/proc/none/lab.html"], "can't be written"),
    (["--run", "nowhere"], "There is no run 'nowhere'"),
])
def test_refusals_are_one_sentence(words: list[str], said: str) -> None:
    result = CliRunner().invoke(render.main, ["lab", *words])
    assert result.exit_code == 2 and result.stdout == ""
    assert re.search(said, result.stderr) and result.stderr.count("\n") == 1


def test_a_run_without_tensors_names_the_command(tmp_path: Path) -> None:
    (tmp_path / "bare.json").write_text(runs.dumps(RUN.model_copy(update={"name": "bare"})), encoding="utf-8")
    result = CliRunner().invoke(render.main, ["lab", "--run", str(tmp_path / "bare.json")])
    assert result.exit_code == 2 and "measure it again: python -m vit_data measure --checkpoint standin --name bare" in result.stderr
