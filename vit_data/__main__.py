"""The command line of the data layer: ``python -m vit_data measure | show | list | diff | verify``."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from . import checkpoint, figures, photos, run, store, story

NAME = re.compile(r"[\w-][\w.-]{0,63}")  # as in the run's schema


class Refusal(click.ClickException):
    """One sentence to standard error, exit code 2."""

    exit_code = 2

    def __init__(self, message: object) -> None:
        super().__init__(re.sub(r"\s+", " ", str(message)).strip())


class Group(click.Group):
    """A command group that answers an unknown command with the nearest one."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(sorted(self.commands))}."
            raise Refusal(f"There is no command '{args[0]}'; {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ImportError as error:
            if (error.name or "").startswith("vit_data"):
                raise  # a fault of this program
            gone = isinstance(error, ModuleNotFoundError)
            what = f"the Python package '{error.name}' is not installed" if gone else f"a library can't be loaded ({error})"
            raise Refusal(f"Measuring needs more than this machine has: {what}; run: pip install -e '.[measure]'") from error
        except OSError as error:
            raise Refusal(f"{error.filename or 'A file'} can't be read or written ({error.strerror or error}); runs that were there are as they were.") from error


FOLDER = click.option("--folder", type=click.Path(path_type=Path), default=run.CACHE, envvar="VIT_DATA_CACHE",
                      help="Where runs lie; the environment variable VIT_DATA_CACHE says the same.  [default: vit_data/cache]")


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Measure a Vision Transformer on two pictures, and look at what was measured.

    A run is one JSON file with every number that the lecture's slides show, and the pictures that belong to it.
    The slides are drawn from a run: measure again, draw again, and they show the new numbers.

    \b
    Start here:
      python -m vit_data measure                         the lecture's weights and photographs (a network once)
      python -m vit_data measure --checkpoint random:0   untrained weights, drawn pictures, no network
      python -m vit_data show standin                    where the shipped numbers come from
    """


@cli.command()
@click.option("--checkpoint", "weights", default="hub", metavar="WHICH", help="hub, standin, random:SEED, or a FILE.  [default: hub]")
@click.option("--dog", metavar="WHICH", help="A picture FILE, 'standin' for the drawing, 'lecture' for the lecture's photograph.")
@click.option("--cat", metavar="WHICH", help="The same for the second picture.")
@click.option("--name", help="Name of the run.  [default: from weights and pictures]")
@click.option("--place", "places", multiple=True, metavar="PART=PATCH", help="Patch number of a named part, as nose=63; repeatable.")
@FOLDER
@click.option("--date", "day", metavar="YYYY-MM-DD", help="Day to record; SOURCE_DATE_EPOCH works too.  [default: today]")
def measure(weights: str, dog: str | None, cat: str | None, name: str | None, places: tuple[str, ...], folder: Path, day: str | None) -> None:
    """Run the model on two pictures and write NAME.json with its pictures beside it.

    \b
    Weights (--checkpoint):
      hub           vit_tiny_patch16_224.augreg_in21k_ft_in1k, downloaded once and kept
      standin       this project's own small checkpoint, trained on drawn pets
      random:SEED   timm's initialisation: what the model computes before any training
      FILE          safetensors or torch state dict of the same architecture, float16 or float32
    \b
    Pictures (--dog, --cat): any file that Pillow reads. Left out, hub and FILE take the lecture's
    photographs, standin and random take the drawings.
    \b
    Places (--place): the story names parts of the picture by patch number, 1 at the top left to 196.
    nose=63 sets both pictures, cat.nose=105 one. Parts: nose, face, ear, other_ear, chest, background,
    corner, dark_patch, branches.
    \b
    Examples:
      python -m vit_data measure --checkpoint random:1 --name untrained
      python -m vit_data measure --dog rex.jpg --place nose=77 --name rex
      python -m vit_data measure --checkpoint mine.safetensors --dog rex.jpg --cat standin

    Everything is recomputed by hand from recorded pieces; if that differs from the model, nothing is written.
    """
    drawn = weights == "standin" or weights.startswith("random:")
    default = "standin" if drawn else "lecture"
    choices = {"dog": dog or default, "cat": cat or default}
    try:
        # whatever can be refused is refused before torch is loaded, which takes seconds
        day, moved = _day(day), _places(places)
        if name is not None:
            _check_name(name)
        store.check_folder(folder)
        chosen = checkpoint.choose(weights)
        wanted = [species for species, choice in choices.items() if choice == "lecture"]
        photos.check_network(wanted)
        _measure(chosen, choices, wanted, moved, name, folder, day)
    except (checkpoint.CheckpointError, photos.PhotoError, store.StoreError, story.PlaceError) as error:
        raise Refusal(error) from error


def _measure(chosen: checkpoint.Choice, choices: dict[str, str], wanted: list[str], moved: dict[str, dict[str, int]], name: str | None,
             folder: Path, day: str) -> None:
    with Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
                  console=Console(stderr=True), transient=True) as progress:
        loading = progress.add_task("reading the pictures", total=None)
        photos.fetch(wanted, lambda read, total: progress.update(loading, description="downloading the photographs", completed=read, total=total or None))
        dog, cat = (photos.picture(choice, species) for species, choice in choices.items())
        dog, cat = (replace(p, places={**p.places, **moved[p.species]}) for p in (dog, cat))
        name = name or _default_name(chosen, choices, (dog, cat))
        _check_name(name)
        progress.update(loading, description="loading the weights", completed=0, total=None)
        from . import forward, measure

        with forward.deterministic():  # also quicker: threads of such small products mostly wait for each other
            model, record = checkpoint.load(
                chosen, lambda read, total: progress.update(loading, description="downloading the weights", completed=read, total=total or None)
            )
        progress.update(loading, completed=0, total=measure.STEPS)
        try:
            measured = measure.measure(model, record, dog, cat, name=name, date=day,
                                       tell=lambda what, done: progress.update(loading, description=what, completed=done))
        except forward.MeasureError as error:
            raise Refusal(error) from error
        path = store.write(measured.run, measured.pictures, folder)
    for subject in (measured.run.dog, measured.run.cat):
        best = subject.prediction.top[0]
        click.echo(f"{subject.photo.id}: {best.label} {100 * best.probability:.2f}%")
    click.echo(f"{figures.describe(measured.run)}\n{path}")


@cli.command()
@click.argument("name")
@click.argument("field", required=False)
@FOLDER
def show(name: str, field: str | None, folder: Path) -> None:
    """Print where the run NAME comes from and what it found, or one FIELD of it.

    \b
    A field is named by a dotted path; lists count from 0:
      python -m vit_data show standin
      python -m vit_data show standin dog.patches.P63.c
      python -m vit_data show standin dog.attention.0
      python -m vit_data show published dog.covers.quadrants.1
    """
    from . import show as text

    try:
        shown = _load(name, folder)
        out = text.summary(shown) if field is None else text.field(text.find(shown, field))
    except (run.RunError, text.FieldError) as error:
        raise Refusal(error) from error
    Console(soft_wrap=field is not None).print(out, highlight=False)


@cli.command("list")
@FOLDER
def list_runs(folder: Path) -> None:
    """List the runs at hand, one a line: name, and what it was measured from."""
    for name in _names(folder):
        try:
            click.echo(f"{name:<20} {figures.describe(_load(name, folder))}")
        except run.RunError as error:
            click.echo(f"{name:<20} {error}")


@cli.command()
@click.argument("before")
@click.argument("after")
@click.option("--json", "as_json", is_flag=True, help="One JSON document with every moved field.")
@click.option("--all", "everything", is_flag=True, help="Print every moved field, not only those that moved most.")
@click.option("--slides", is_flag=True, help="Also name the slides that show a moved figure (asks render.py).")
@FOLDER
def diff(before: str, after: str, as_json: bool, everything: bool, slides: bool, folder: Path) -> None:
    """Say what differs between two runs: figures that moved, and claims that flipped.

    \b
    For use after a change of weights or photographs:
      python -m vit_data diff standin rex
      python -m vit_data diff standin rex --json > moved.json
      python -m vit_data diff standin rex --slides

    Claims are what slides say that follows from the numbers: the top label, the strongest source of a map, the cover
    that costs most, how many covered pictures keep the label.
    """
    from . import diff as difference

    try:
        a, b = _load(before, folder), _load(after, folder)
    except run.RunError as error:
        raise Refusal(error) from error
    found = difference.compare(a, b)
    if as_json:
        click.echo(found.json(a, b), nl=False)
        return
    _wide().print(difference.text(found, a, b, None if everything else 30), highlight=False)
    if slides:
        _slides_that_differ(*(name if name == "published" or name.endswith(".json") else str(folder / f"{name}.json") for name in (before, after)))


def _slides_that_differ(before: str, after: str) -> None:
    """Ask the rendering side, in its own process: this package knows nothing of slides."""
    script = Path(__file__).parents[1] / "render.py"
    if subprocess.run([sys.executable, str(script), "status", "--changed", before, after], check=False).returncode == 2:
        raise Refusal("The slides could not be asked; run: python render.py status --changed OLD NEW")


@cli.command()
@click.argument("name", default="lecture")
@click.option("--all", "everything", is_flag=True, help="Print every figure, not only those that are off.")
@FOLDER
def verify(name: str, everything: bool, folder: Path) -> None:
    """Compare a run of the lecture's checkpoint and photographs with every figure that the lecture prints.

    Each printed figure is met if the measured one rounds to it at the printed precision. Exit code 1 if any is off.
    Only a run of exactly those weights and photographs can be compared; for another one the reason is told.
    """
    from . import verify as check

    try:
        rows = check.compare(_load(name, folder))
    except (run.RunError, check.VerifyError) as error:
        raise Refusal(error) from error
    _wide().print(check.text(rows, everything), highlight=False)
    if any(not row.met for row in rows):
        raise SystemExit(1)


def _wide() -> Console:
    """A console for tables: as wide as the terminal, wide enough for field names in a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else 140)


def _names(folder: Path) -> list[str]:
    return sorted({p.stem for p in folder.glob("*.json")} | {"published"})


def _load(name: str, folder: Path) -> run.Run:
    if name == "published" or name.endswith(".json"):
        return run.load(name)
    if not os.path.isfile(folder / f"{name}.json"):
        near = difflib.get_close_matches(name, _names(folder), n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(_names(folder))}."
        raise run.RunError(f"There is no run '{name}'; {hint}")
    return run.load(str(folder / f"{name}.json"))


def _check_name(name: str) -> None:
    if name == "published":
        raise Refusal("The name 'published' belongs to the figures that the lecture prints; choose another with --name.")
    if not NAME.fullmatch(name):
        raise Refusal(f"'{name}' can't name a run; use up to 64 letters, digits, '_', '-' and '.', not starting with a dot.")


def _default_name(chosen: checkpoint.Choice, choices: dict[str, str], pictures: tuple[photos.Picture, photos.Picture]) -> str:
    """The weights' name, and that of each picture that does not usually go with them."""
    usual = "standin" if chosen.source in ("standin", "random") else "lecture"
    base = {"hub": "lecture", "standin": "standin", "random": f"random-{chosen.seed}"}.get(chosen.source) or chosen.file.stem
    unusual = [p.id for p, choice in zip(pictures, choices.values(), strict=True) if choice != usual]
    if chosen.source == "hub" and unusual:
        base = "hub"  # a run called lecture is the default for the slides
    return re.sub(r"[^\w.-]+", "_", "-".join([base, *unusual])).lstrip(".")[:64] or "run"


def _places(given: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """``nose=63`` for both pictures or ``cat.nose=105`` for one → patch numbers by picture and part."""
    moved: dict[str, dict[str, int]] = {"dog": {}, "cat": {}}
    for text in given:
        match = re.fullmatch(r"(?:(dog|cat)\.)?(\w+)=(\d{1,6})", text)
        if not match:
            raise story.PlaceError(f"'{text}' is no place; write a part and a patch number, as in nose=63 or cat.nose=105.")
        species, part, patch = match[1], match[2], int(match[3])
        story.check_place(part, patch)
        for each in (species,) if species else moved:
            moved[each][part] = patch
    return moved


def _day(given: str | None) -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        if given:
            return date.fromisoformat(given).isoformat()
        return datetime.fromtimestamp(int(epoch), UTC).date().isoformat() if epoch else date.today().isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise Refusal(f"'{given or epoch}' is no date; write it as in 2026-12-01 (SOURCE_DATE_EPOCH: in seconds).") from error


if __name__ == "__main__":
    cli(prog_name="python -m vit_data")
