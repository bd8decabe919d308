"""What the commands share: exit codes, options, and how they tell of progress and of problems."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from auditkit.cli.streams import bare
from auditkit.cli.time_left import TimeLeft
from auditkit.errors import InputError, Problem
from auditkit.text import printable

if TYPE_CHECKING:
    from auditkit.config import Config
    from auditkit.data.source import Place
    from auditkit.plugin_manager import Plugins

DONE, FINDING, WRONG_INPUT, DEFECT = 0, 1, 2, 3
MOST_PROBLEMS = 10

F = TypeVar("F", bound=Callable[..., Any])


def complain(error: InputError) -> None:
    """Say what is wrong: the first ten problems, and how many there are."""
    for problem in error.problems[:MOST_PROBLEMS]:
        click.echo(f"error: {printable(problem)}", err=True)
    if len(error.problems) > MOST_PROBLEMS:
        click.echo(f"... {len(error.problems)} problems in all", err=True)


@contextmanager
def working(what: str, quiet: bool, time_left: TimeLeft | None = None) -> Iterator[Callable[[str], None]]:
    """A bar on stderr while something may take long, and a function that says what is being done.

    With an estimate it says how long that may still take. Where the solver is compiled, the first time on a machine,
    that is said too, once. Nothing when nobody is looking.
    """
    with _interrupts_kept() as check:
        if quiet or not sys.stderr.isatty():
            yield lambda _: check()
            return
        with _bar(what, time_left) as say:

            def checked(text: str) -> None:
                check()
                say(text)

            yield checked


@contextmanager
def _interrupts_kept() -> Iterator[Callable[[], None]]:
    """A function that raises KeyboardInterrupt if Ctrl-C was pressed, as the end of this does too.

    Ctrl-C raises it at once; but where compiled code calls Python back (numba compiles so) it may be swallowed there.
    """
    pressed: list[int] = []

    def handle(number: int, frame: Any) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield check
        check()
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(what: str, time_left: TimeLeft | None) -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), BarColumn(24), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(file=bare(sys.stderr)), transient=True) as bar:
        task = bar.add_task(what, total=None if time_left is None else 1.0)

        def say(text: str) -> None:
            if time_left is not None:
                time_left.begin(text)
                left = time_left.left(bar.tasks[0].elapsed or 0.0)
                text = f"{text} ({left})" if left else text
                bar.update(task, completed=time_left.done)
            bar.update(task, description=printable(text))

        with _saying_that_it_compiles(lambda: bar.console.print(COMPILES, style="dim")):
            yield say


COMPILES = "compiling the solver for this machine: some seconds, once"


@contextmanager
def _saying_that_it_compiles(tell: Callable[[], None]) -> Iterator[None]:
    """Calls `tell` when numba compiles for the first time; it finds out without importing numba for nothing."""
    from importlib.abc import MetaPathFinder

    class Watch(MetaPathFinder):
        """Waits for the kernels to be imported, and never finds a module itself."""

        def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
            if name == "auditkit.solver.room_kernels":
                sys.meta_path.remove(self)
                _on_compilation(tell)

    watch = Watch()
    if "auditkit.solver.room_kernels" in sys.modules:
        _on_compilation(tell)
    else:
        sys.meta_path.insert(0, watch)
    try:
        yield
    finally:
        if watch in sys.meta_path:
            sys.meta_path.remove(watch)


def _on_compilation(tell: Callable[[], None]) -> None:
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]
        def on_start(self, event_: Any) -> None:
            event.unregister("numba:compile", self)
            tell()

        def on_end(self, event_: Any) -> None:
            """Nothing."""

    event.register("numba:compile", Once())


def warn(line: str) -> None:
    """Something that a user should know, whether progress is shown or not."""
    click.echo(f"warning: {line}", err=True)


def load_plugins() -> Plugins:
    """Every plugin; those that cannot be used are named on stderr, or refused with --strict-plugins."""
    from auditkit import plugin_manager

    context = click.get_current_context()
    asked, root = context.meta, context.find_root().command
    plugins = plugin_manager.load(asked.get(PLUGINS_DIR, ()), taken=getattr(root, "commands", ()))
    strict = bool(asked.get(STRICT_PLUGINS))
    if plugins.warnings and strict:
        raise InputError([Problem("", line) for line in plugins.warnings])

    for line in plugins.warnings:
        warn(line)
    return replace(plugins, strict=strict, tell=warn)


PLUGINS_DIR, STRICT_PLUGINS = "auditkit.plugins_dir", "auditkit.strict_plugins"


def _remember(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """An option that only `load_plugins` needs to know of."""

    def callback(context: click.Context, _: click.Parameter, value: Any) -> None:
        context.meta[key] = value

    return callback


_PLUGIN_OPTIONS = (
    click.option(
        "--plugins-dir",
        type=click.Path(path_type=Path),
        multiple=True,
        expose_value=False,
        callback=_remember(PLUGINS_DIR),
        help="also load the plugins in this folder (repeatable)",
    ),
    click.option(
        "--strict-plugins",
        is_flag=True,
        expose_value=False,
        callback=_remember(STRICT_PLUGINS),
        help="a plugin that cannot be loaded or fails is an error",
    ),
)


def plugin_options(command: F) -> F:
    """The options of every command that uses plugins."""
    for option in reversed(_PLUGIN_OPTIONS):
        command = option(command)
    return command


constraint_option = click.option(
    "--constraint",
    "-c",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="name or name:key=value,... (repeatable), e.g. quota:group=F,share=0.4,on=inspection",
)
engine_option = click.option(
    "--engine",
    metavar="NAME",
    help="where to compute: local (the default), dask (worker processes here), or tcp://HOST:PORT (a dask scheduler)",
)
json_option = click.option("--json", "as_json", is_flag=True, help="print the whole document as JSON")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="no progress on stderr")
audit_argument = click.argument("audit", type=click.Path(path_type=Path), metavar="AUDIT.toml")


class DataType(click.Path):
    """A path, or the URL of a database, which stays text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from auditkit.data.sql_query import is_url

        return value if is_url(value) else super().convert(value, param, ctx)


query_option = click.option(
    "--query", metavar="SQL", help="where DATA is the URL of a database: the SELECT that returns the rows"
)
_DATA_OPTIONS = (
    click.argument("data", type=DataType(path_type=Path), metavar="DATA", required=False),
    query_option,
    click.option("--config", type=click.Path(path_type=Path), metavar="AUDIT.toml", help="settings; see auditkit init"),
    click.option(
        "--map",
        multiple=True,
        metavar="ROLE=COLUMN",
        help="which column is what (repeatable); group=sex+race crosses columns, ROLE=none leaves a role out",
    ),
    click.option(
        "--cost",
        multiple=True,
        metavar="NUMBER",
        help="cost of an inspection where the data has none; STAGE=NUMBER for each stage",
    ),
    click.option("--capacity", type=int, help="positions of each search where the data has none"),
    *_PLUGIN_OPTIONS,
)
_FIT_OPTIONS = (
    click.option("--value-scale", type=float, help="worth of one score point, in the unit of costs (1)"),
    click.option("--fitter", metavar="NAME", help="how priors are learnt: empirical, normal, or a plugin's"),
    click.option("--propensity", is_flag=True, help="weigh scores by the inverse chance of being inspected"),
    click.option("--blind", is_flag=True, help="learn priors without the protected attributes"),
)
_REPORT_OPTIONS = (
    click.option("--format", "formats", metavar="html,pdf,json", help="what to write (html,json)"),
    click.option(
        "--parts",
        metavar="summary|body|all",
        help="the first page only, with the details, or with the annex (all)",
    ),
    click.option(
        "--template-dir", type=click.Path(path_type=Path), help="folder of templates that replace shipped ones"
    ),
)
_GROUPS = {
    "data": _DATA_OPTIONS,
    "fit": _FIT_OPTIONS,
    "constraints": (constraint_option, engine_option),
    "report": _REPORT_OPTIONS,
}


@dataclass(frozen=True)
class Request:
    """What a command is asked about: the data, the settings, and which of them are options of the command line."""

    data: Place
    config: Config
    given: frozenset[str]


def takes_settings(*groups: Literal["fit", "constraints", "report"]) -> Callable[[F], Callable[..., Any]]:
    """Give a command the argument DATA and the options of these groups; it receives them as one `Request`.

    Options are named as in `auditkit.config.OPTIONS`, which is where they go.
    """
    options = [option for group in ("data", *groups) for option in _GROUPS[group]]

    def decorate(command: F) -> Callable[..., Any]:
        @wraps(command)
        def run(**values: Any) -> Any:
            own = {name: values.pop(name) for name in names & values.keys()}
            return command(_request(**own), **values)

        others = len(getattr(run, "__click_params__", ()))
        decorated: Callable[..., Any] = run
        for option in reversed(options):
            decorated = option(decorated)
        names = {parameter.name for parameter in decorated.__click_params__[others:]}  # type: ignore[attr-defined]
        return decorated

    return decorate


def _request(data: str | Path | None, config: Path | None, **options: Any) -> Request:
    from auditkit import config as configs
    from auditkit.data import source

    options["map"], options["cost"] = _mapping(options["map"]) or None, _cost(options["cost"])
    options["propensity"] = options.get("propensity") or None
    options["blind"] = options.get("blind") or None
    if specs := options.pop("specs", ()):
        from auditkit.constraints import spec

        options["constraints"] = [spec.parse(text) for text in specs]
    if formats := options.get("formats"):
        options["formats"] = tuple(name.strip().lower() for name in formats.split(","))
    chosen = configs.choose(config, options)
    place = source.locate(data, chosen)
    if place is None:
        raise InputError(Problem("DATA", "no data is named", "give a file, or `source` in the --config file"))
    given = frozenset(name for name, value in options.items() if value is not None)
    return Request(place, source.named_in(chosen, place), given)


def _mapping(maps: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in maps:
        role, sign, column = text.partition("=")
        if not sign or not role.strip() or not column.strip():
            raise InputError(Problem(f"--map {text!r}", "is not ROLE=COLUMN", 'e.g. --map "group=Gender"'))
        if role.strip() in found and role.strip() in ("group", "segment"):
            found[role.strip()] += f",{column.strip()}"
            continue
        if role.strip() in found:
            raise InputError(Problem(f"--map {role.strip()}", "is given twice", "join columns with +"))
        found[role.strip()] = column.strip()
    return found


def _cost(costs: tuple[str, ...]) -> float | dict[str, float] | None:
    if not costs:
        return None
    if len(costs) == 1 and "=" not in costs[0]:
        return _number(costs[0], costs[0])
    found = {}
    for text in costs:
        stage, sign, amount = text.rpartition("=")
        if not sign or not stage.strip():
            raise InputError(
                Problem(f"--cost {text!r}", "is not STAGE=NUMBER", "give one number, or one for each stage")
            )
        found[stage.strip()] = _number(amount, text)
    return found


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(Problem(f"--cost {whole!r}", f"{text!r} is not a number")) from None
