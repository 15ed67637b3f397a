"""Render the lecture from a measured run: films, stills, checks. Start with: python render.py --help"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path

import click
from joblib import Parallel, cpu_count, delayed
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
        "run": click.option("--run", "run_name", metavar="NAME", help="Run to draw: a name in vit_data/cache, 'published', or a .json file. Default: 'lecture' if measured, else 'standin'."),
        "quality": click.option("--quality", type=click.Choice(list(jobs.QUALITIES)), default="medium", show_default=True, help="preview 480p15, medium 720p30, high 1080p60."),
        "jobs": click.option("--jobs", "workers", type=click.IntRange(1), default=None, help="Slides rendered at the same time. Default: one for each core."),
    }
    return lambda f: functools.reduce(lambda g, name: known[name](g), reversed(names), f)


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(context: click.Context) -> None:
    """A Vision Transformer lecture, drawn from one measured run.

    Without a command the default deck becomes one film at medium quality.

    \b
    python render.py list                          what there is
    python render.py stills reference/s02 --sheet  look at a section
    python render.py video reference/s02/20        one slide as a film
    python render.py video --quality high          the film for the lecture hall

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
            click.echo(f"\n{before}  {section.name}" if section.key != "cover" else f"\n{deck}")
        click.echo(f"  {route:20} {decks.slides()[route].heading(run)}")
    click.echo(f"\nruns: {', '.join(runs.available())}  (drawn by default: {runs.default()})")


@main.command()
@options("slides", "run", "quality", "jobs")
def video(slides: tuple[str, ...] = (), run_name: str | None = None, quality: str = "medium", workers: int | None = None) -> None:
    """Films of slides, joined into one."""
    routes, run = _choose(slides, default=True), _run(run_name)
    folder = MEDIA / run.name / quality
    films = {route: folder / f"{route}.mp4" for route in routes}
    made = _perform([jobs.Job("film", route, run_name or runs.default(), {"path": str(path), "quality": quality}) for route, path in films.items()],
                    workers, "rendering", folder)
    if len(made) < len(routes):
        raise SystemExit(1)
    if len(routes) > 1:
        from scenes import film

        target = folder / f"{_title(routes, slides)}.mp4"
        film.join(list(films.values()), target)
    else:
        target = films[routes[0]]
    click.echo(_near(target))


@main.command()
@options("slides", "run", "jobs")
@click.option("--quality", type=click.Choice(list(jobs.QUALITIES)), default="high", show_default=True, help="Size of the pictures.")
@click.option("--steps", is_flag=True, help="A picture of every step, not of the last one only.")
@click.option("--sheet", is_flag=True, help="Also put all pictures on one contact sheet.")
def stills(slides: tuple[str, ...], run_name: str | None, quality: str, workers: int | None, steps: bool, sheet: bool) -> None:
    """Slides as PNG pictures."""
    routes, run = _choose(slides), _run(run_name)
    folder = MEDIA / run.name / "stills"
    made = _perform([jobs.Job("stills", route, run_name or runs.default(), {"path": str(folder / f"{route}.png"), "quality": quality, "steps": steps}) for route in routes],
                    workers, "drawing", folder)
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


def _run(name: str | None) -> runs.Run:
    try:
        return runs.load(name)
    except runs.RunError as error:
        raise Sentence(str(error)) from error


def _perform(work: list[jobs.Job], workers: int | None, verb: str, folder: Path | None = None, key=lambda job: job.route) -> dict:
    """Do jobs in parallel with one progress display; name the failures and return the values of the others."""
    workers = min(workers or cpu_count(), len(work))
    values, errors = {}, []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[last]}"))
    try:
        with Progress(*columns, console=say, transient=True) as progress:
            task = progress.add_task(verb, total=len(work), last="")
            doing = (delayed(_numbered)(i, job) for i, job in enumerate(work))
            for i, result in Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(doing):
                progress.update(task, advance=1, last=result.route)
                if result.error:
                    errors.append(result)
                else:
                    values[key(work[i])] = result.value
    except KeyboardInterrupt:
        _sweep(folder)
        say.print("Stopped; finished slides are kept, nothing is half written.")
        raise SystemExit(130) from None
    except OSError as error:
        _sweep(folder)
        raise Sentence(f"{error.filename or folder} can't be written ({error.strerror}); free the place or its permissions.") from error
    for result in errors:
        say.print(f"[bold red]{result.route} failed[/]")
        say.print(result.error, markup=False)
    return values


def _numbered(i: int, job: jobs.Job) -> tuple[int, jobs.Result]:
    return i, jobs.perform(job)


def _sweep(folder: Path | None) -> None:
    """Remove what interrupted workers were making."""
    for part in folder.rglob(".*.*.*") if folder and folder.exists() else ():
        part.unlink(missing_ok=True)


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
