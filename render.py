"""Render the lecture from a measured run: films, stills, checks. Start with: python render.py --help"""

from __future__ import annotations

import functools
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click
from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from scenes import jobs
from vit_data import run as runs

MEDIA = Path(__file__).resolve().parent / "media"
say = Console(stderr=True, highlight=False)


class Sentence(click.ClickException):
    """Bad input: one sentence, exit code 2."""

    exit_code = 2


def options(*names: str):
    """The arguments that commands share."""
    known = {
        "slides": click.argument("slides", nargs=-1, metavar="[SLIDE]..."),
        "run": click.option(
            "--run",
            "run_name",
            metavar="NAME",
            help="Run to draw: a name in vit_data/cache, 'published', or a .json file. Default: 'lecture' if measured, else 'standin'.",
        ),
        "quality": click.option(
            "--quality", type=click.Choice(list(jobs.QUALITIES)), default="medium", show_default=True, help="preview 480p15, medium 720p30, high 1080p60."
        ),
        "jobs": click.option("--jobs", "workers", type=click.IntRange(1), default=None, help="Slides rendered at the same time. Default: one for each core."),
    }
    return lambda f: functools.reduce(lambda g, name: known[name](g), reversed(names), f)


class Program(click.Group):
    """The commands; what the machine lacks is told in one sentence."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except ImportError as error:
            what = jobs.lacking(error)
            if not what:
                raise
            raise Sentence(what) from error
        except OSError as error:
            raise Sentence(f"{error.filename or MEDIA} can't be read or written ({error.strerror or error}); finished films are kept.") from error


@click.group(cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(context: click.Context) -> None:
    """A Vision Transformer lecture, drawn from one measured run.

    Without a command the default deck becomes one film at medium quality.

    \b
    python render.py list                          what there is
    python render.py stills reference/s02 --sheet  look at a section
    python render.py video reference/s02/20        one slide as a film
    python render.py video --quality high          the film for the lecture hall
    python render.py deck --to html --to pdf       to present from, and to hand out
    python render.py status                        what a new film would change, and why

    SLIDE is a deck (reference), a section (reference/s02) or a route (reference/s02/20). Numbers come from the run:
    measure another with python -m vit_data measure --help, then name it with --run.
    """
    if context.invoked_subcommand is None:
        context.invoke(video)


@main.command("list")
@options("slides", "run")
def list_(slides: tuple[str, ...], run_name: str | None) -> None:
    """Routes and titles, and the runs that can be drawn."""
    from scenes import decks

    routes, run = _choose(slides), _run(run_name)
    before = ""
    for route in routes:
        deck = route.split("/")[0]
        section = decks.section(route)
        if f"{deck}/{section.key}" != before:
            before = f"{deck}/{section.key}"
            click.echo(f"\n{before.rstrip('/')}  {section.name}" if section.key != "cover" else f"\n{deck}")
        click.echo(f"  {route:20} {decks.slides()[route].heading(run)}")
    click.echo(f"\nruns: {', '.join(runs.available())}  (drawn by default: {runs.default()})")


@main.command()
@options("slides", "run", "quality", "jobs")
@click.option("--again", is_flag=True, help="Render every slide, also those whose film is fresh.")
@click.option("--scheduler", metavar="ADDRESS", help="Render on the workers of this Dask scheduler, such as tcp://10.0.0.5:8786.")
def video(slides: tuple[str, ...] = (), run_name: str | None = None, quality: str = "medium", workers: int | None = None,
          again: bool = False, scheduler: str | None = None) -> None:
    """Films of slides, joined into one. Only slides with something new in them are rendered; see status.

    The joined film has chapters and subtitles (what is said to each slide); the same subtitles lie beside it as .srt,
    and its first page as .jpg.
    """
    from scenes import record

    routes, run = _choose(slides, default=True), _run(run_name)
    films, todo = _films(routes, run, run_name, quality, workers, again, scheduler)
    folder = MEDIA / run.name / quality
    if len(routes) > 1:
        target = folder / f"{_title(routes, slides)}.mp4"
        parts = [*(record.hash_of(film) for film in films.values()), record.along(routes, run)]
        if todo or not record.is_joined(target, parts):
            from scenes import film, tracks

            along = tracks.of(films, run, f"Vision Transformer · {target.stem}")
            film.join(list(films.values()), target, along)
            film.whole(target.with_suffix(".srt"), lambda path: path.write_text(along.srt(), encoding="utf-8"))
            film.poster(films[routes[0]], target.with_suffix(".jpg"))
            record.write_join(target, parts)
    else:
        target = films[routes[0]]
    click.echo(_near(target))


def _films(routes: list[str], run: runs.Run, run_name: str | None, quality: str, workers: int | None, again: bool = False,
           scheduler: str | None = None) -> tuple[dict[str, Path], list[str]]:
    """Bring the films of these slides up to date; returns them by route, and the routes that were rendered."""
    from scenes import record, status

    folder = MEDIA / run.name / quality
    films = {route: folder / f"{route}.mp4" for route in routes}
    states = _states(films, run, quality)
    todo = status.longest_first({r: s for r, s in states.items() if again or s.kind != "fresh"})
    if todo:
        record.sweep(folder)
        if len(todo) < len(routes):
            say.print(f"{len(routes) - len(todo)} of {len(routes)} films are fresh.")
        work = [jobs.Job("film", route, run_name or runs.default(), {"path": str(films[route]), "quality": quality}) for route in todo]
        if len(_perform(work, workers, "rendering", folder, remote=(scheduler, run) if scheduler else None)) < len(todo):
            raise SystemExit(1)
    return films, todo


@main.command()
@options("slides", "run", "quality", "jobs")
@click.option("--to", "kinds", type=click.Choice(["html", "pptx", "pdf"]), multiple=True, default=("html",), show_default=True, help="What to make; repeatable.")
def deck(slides: tuple[str, ...], run_name: str | None, quality: str, workers: int | None, kinds: tuple[str, ...]) -> None:
    """A deck to present from: a click for each step, with speaker notes.

    \b
    html   one file for any browser: right arrow or space for the next step, S for the speaker's notes
    pptx   the same for PowerPoint
    pdf    every page with its notes, titles as bookmarks
    html and pptx need: pip install -e '.[present]'
    """
    routes, run = _choose(slides, default=True), _run(run_name)
    name = _title(routes, slides)
    if set(kinds) - {"pdf"} and find_spec("manim_slides") is None:
        raise Sentence(
            "A deck to click through is made by manim-slides, which is not installed; run: pip install -e '.[present]' (--to pdf needs nothing more)."
        )
    from scenes import handouts

    if "pdf" in kinds:
        work = [
            jobs.Job(
                "stills", route, run_name or runs.default(), {"path": str(MEDIA / run.name / "stills" / f"{route}.png"), "quality": "high", "steps": False}
            )
            for route in routes
        ]
        made = _perform(work, workers, "drawing", MEDIA / run.name / "stills")
        if len(made) < len(routes):
            raise SystemExit(1)
        click.echo(_near(handouts.pdf({route: Path(made[route][0]) for route in routes}, run, MEDIA / run.name / f"{name}.pdf")))
    if set(kinds) - {"pdf"}:
        films, _ = _films(routes, run, run_name, quality, workers)
        for kind in sorted(set(kinds) - {"pdf"}):
            click.echo(_near(handouts.clickable(films, run, MEDIA / run.name / f"{name}.{kind}")))


@main.command("status")
@options("slides", "run", "quality", "jobs")
@click.option("--field", metavar="FIELD", help="List the slides that show this field of the run: c, patches.P63.c, dog.prediction.")
@click.option("--changed", nargs=2, metavar="OLD NEW", help="List the slides on which two runs differ.")
def status_(slides: tuple[str, ...], run_name: str | None, quality: str, workers: int | None, field: str | None, changed: tuple[str, str] | None) -> None:
    """Which films are fresh, stale (and why), missing or failed. Renders nothing."""
    from scenes import status

    if field or changed:
        run_name = changed[0] if changed else run_name
    routes, run = _choose(slides), _run(run_name)
    films = {route: MEDIA / run.name / quality / f"{route}.mp4" for route in routes}
    if not (field or changed):
        states = _states(films, run, quality)
        for route, state in states.items():
            if state.kind != "fresh":
                click.echo(f"{route:20} {state.kind:8} {state}".rstrip())
        kinds = [state.kind for state in states.values()]
        click.echo(
            f"{len(routes)} slides, run {run.name}, {quality}: "
            + ", ".join(f"{kinds.count(k)} {k}" for k in ("fresh", "stale", "missing", "failed") if k in kinds)
        )
        return
    other = _run(changed[1]) if changed else run
    known = {r: status.reads(s, r, run) for r, s in _states(films, run, quality).items()}
    # what no record tells is found by laying the slide out
    work = [jobs.Job("reads", route, run_name or runs.default()) for route in routes if known[route] is None]
    known |= _perform(work, workers, "reading") if work else {}
    shown = {route: fields for route in routes if (fields := known[route]) is not None}
    if field:
        shown = {route: status.showing(field, fields) for route, fields in shown.items()}
        if not any(shown.values()):
            near = status.nearest(field, {f for fields in known.values() for f in fields or ()})
            raise Sentence(f"No slide shows a field '{field}'" + (f"; did you mean '{near}'?" if near else "; see: python -m vit_data show") )
    lines = {route: status.changed(fields, run, other) if changed else fields for route, fields in shown.items()}
    for route, why in lines.items():
        if why:
            click.echo(f"{route:20} {why[0]}" + (f" (and {len(why) - 1} more)" if len(why) > 1 else ""))
    count = sum(map(bool, lines.values()))
    click.echo(f"{count} of {len(lines)} slides " + (f"differ between {changed[0]} and {changed[1]}" if changed else f"show {field}"))
    if len(shown) < len(routes):
        raise SystemExit(1)


def _states(films: dict[str, Path], run: runs.Run, quality: str) -> dict:
    from scenes import sources, status

    states = {route: status.judge(route, film, run, jobs.settings(quality)) for route, film in films.items()}
    sources.NOW.keep()
    return states


@main.command()
@options("slides", "run", "jobs")
@click.option("--quality", type=click.Choice(list(jobs.QUALITIES)), default="high", show_default=True, help="Size of the pictures.")
@click.option("--steps", is_flag=True, help="A picture of every step, not of the last one only.")
@click.option("--sheet", is_flag=True, help="Also put all pictures on one contact sheet.")
def stills(slides: tuple[str, ...], run_name: str | None, quality: str, workers: int | None, steps: bool, sheet: bool) -> None:
    """Slides as PNG pictures."""
    routes, run = _choose(slides), _run(run_name)
    folder = MEDIA / run.name / "stills"
    made = _perform(
        [jobs.Job("stills", route, run_name or runs.default(), {"path": str(folder / f"{route}.png"), "quality": quality, "steps": steps}) for route in routes],
        workers,
        "drawing",
        folder,
    )
    shots = [(f"{route}  step {n}" if steps else route, Path(path)) for route in routes for n, path in enumerate(made.get(route, ()), 1)]
    if sheet and shots:
        from scenes import film

        click.echo(_near(film.sheet(shots, folder / f"{_title(routes, slides)}-sheet.png")))
    else:
        for _, path in shots:
            click.echo(_near(path))
    if len(made) < len(routes):
        raise SystemExit(1)


@main.command()
@options("slides", "run", "jobs")
def check(slides: tuple[str, ...], run_name: str | None, workers: int | None) -> None:
    """Lay slides out and name overlaps, tiny text and steps that change nothing.

    Without --run both the published figures and the default run are checked. Exit code 1 if there is a fault.
    """
    routes = _choose(slides)
    names = [run_name] if run_name else ["published", runs.default()]
    for name in names:
        _run(name)
    faults = 0
    work = [jobs.Job("check", route, name) for name in names for route in routes]
    found = _perform(work, workers, "checking", key=lambda job: (job.run, job.route))
    for (name, _), lines in sorted(found.items()):
        for line in lines:
            click.echo(f"{name}: {line}")
            faults += 1
    failed = len(work) - len(found)
    click.echo(f"{len(routes)} slides, runs {', '.join(names)}: {faults or 'no'} fault{'' if faults == 1 else 's'}" + (f", {failed} failed" if failed else ""))
    if faults or failed:
        raise SystemExit(1)


@main.command()
@options("slides", "run", "jobs")
@click.option("--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="File to write; default: standard output.")
def texts(slides: tuple[str, ...], run_name: str | None, workers: int | None, target: Path | None) -> None:
    """Every string that slides draw, with titles, captions and notes, as JSON."""
    routes = _choose(slides)
    _run(run_name)
    found = _perform([jobs.Job("texts", route, run_name or runs.default()) for route in routes], workers, "reading")
    document = json.dumps([found[r] for r in routes if r in found], ensure_ascii=False, indent=1) + "\n"
    if target:
        try:
            target.write_text(document, encoding="utf-8")
        except OSError as error:
            raise Sentence(f"{target} can't be written ({error.strerror}); choose another file.") from error
    else:
        click.echo(document, nl=False)
    if len(found) < len(routes):
        raise SystemExit(1)


@main.command()
@options("run")
@click.option("--out", "target", type=click.Path(dir_okay=False, path_type=Path), help="File to write.  [default: media/RUN/lab.html]")
def lab(run_name: str | None, target: Path | None) -> None:
    """The attention and similarity lab as one HTML file, for a browser with no server and no network."""
    from scenes import labpage
    from vit_data import lab_tensors

    run = _run(run_name, pictures=False)
    target = target or MEDIA / run.name / "lab.html"
    try:
        lab_tensors.load(run)  # what the lab itself lacks is told first
        _run(run_name)
        page = labpage.build(run).encode("utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        runs.write_safely(target, page)
    except lab_tensors.LabError as error:
        raise Sentence(str(error)) from error
    except OSError as error:
        raise Sentence(f"{target} can't be written ({error.strerror}); choose another file with --out.") from error
    click.echo(f"{_near(target)}  {len(page) / 1e6:.1f} MB")


def _choose(slides: tuple[str, ...], default: bool = False) -> list[str]:
    """Routes of the named slides; without names all, or the default deck's."""
    from scenes import decks

    try:
        every = decks.select()
        if not slides and default:
            slides = (every[0].split("/")[0],)  # the lecture comes before the reference deck
        return decks.select(*slides)
    except decks.UnknownRoute as error:
        raise Sentence(str(error)) from error


def _run(name: str | None, pictures: bool = True) -> runs.Run:
    from vit_data import sound

    try:
        run = runs.load(name)
        if pictures:
            sound.check_pictures(run)
        return run
    except runs.RunError as error:
        raise Sentence(str(error)) from error


def _perform(work: list[jobs.Job], workers: int | None, verb: str, folder: Path | None = None, key=lambda job: job.route, remote: tuple[str, runs.Run] | None = None) -> dict:
    """Do jobs in parallel with one progress display; name the failures and return the values of the others."""
    workers = min(workers or cpu_count(), len(work))
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")  # joblib's, where workers are stopped early
    values, errors = {}, []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[last]}"))
    try:
        with Progress(*columns, console=say, transient=True) as progress:
            task = progress.add_task(verb, total=len(work), last="")
            if remote:
                from scenes import cluster

                results = cluster.films(*remote, work)
            else:
                results = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(delayed(_numbered)(i, job) for i, job in enumerate(work))
            for i, result in results:
                progress.update(task, advance=1, last=result.route)
                if result.error:
                    errors.append(result)
                else:
                    values[key(work[i])] = result.value
    except KeyboardInterrupt:
        _sweep(folder)
        say.print("Stopped; finished slides are kept, nothing is half written.")
        raise SystemExit(130) from None
    except (jobs.RemoteError, jobs.Stopped) as error:
        raise Sentence(str(error)) from error
    except TerminatedWorkerError as error:
        _sweep(folder)
        raise Sentence("A worker was killed, perhaps for want of memory; finished slides are kept. Go on with the same command and fewer --jobs.") from error
    except OSError as error:
        _sweep(folder)
        raise Sentence(f"{error.filename or folder} can't be written ({error.strerror or error}); finished slides are kept. Make room or choose a place "
                       "that can be written, then give the same command again.") from error
    for result in errors:
        say.print(f"[bold red]{result.route} failed[/]")
        say.print(result.error, markup=False)
    return values


def _numbered(i: int, job: jobs.Job) -> tuple[int, jobs.Result]:
    result = jobs.perform(job)
    if result.blocked:  # the disk is full, say: the other slides would fail as well
        raise OSError(*result.blocked)
    if result.stopped:
        raise jobs.Stopped(result.stopped)
    return i, result


def _sweep(folder: Path | None) -> None:
    """Remove what interrupted workers were making."""
    from scenes import record

    if folder and folder.exists():
        record.sweep(folder, everything=True)


def _title(routes: list[str], slides: tuple[str, ...]) -> str:
    """Name of a joined film: the deck or section asked for, or the first and last route."""
    if len(slides) <= 1:
        return (slides[0].strip("/") if slides else routes[0].split("/")[0]).replace("/", "-")
    return f"{routes[0]}-to-{routes[-1]}".replace("/", "-")


def _near(path: Path) -> str:
    """A path as short as it can be said from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


if __name__ == "__main__":
    sys.exit(main())
