"""Exit codes, options, progress and error messages: the parts that commands share."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from auditkit.cli.streams import bare
from auditkit.errors import InputError, Problem
from auditkit.memory import loading
from auditkit.report.time_left import Effort, TimeLeft
from auditkit.text import printable

if TYPE_CHECKING:
    from auditkit.config import Config
    from auditkit.data.source import Place
    from auditkit.plugin_manager import Plugins

DONE, FINDING, WRONG_INPUT, DEFECT, UNCHECKED = 0, 1, 2, 3, 4
HERE = Path("audit.toml")
"""Settings used if a command names neither data nor settings."""

MOST_PROBLEMS = 10

F = TypeVar("F", bound=Callable[..., Any])


def complain(error: InputError) -> None:
    """Print the first ten problems, and how many there are."""
    for problem in error.problems[:MOST_PROBLEMS]:
        click.echo(f"error: {printable(problem)}", err=True)
    if len(error.problems) > MOST_PROBLEMS:
        click.echo(f"... {len(error.problems)} problems in all", err=True)


class Say:
    """Call it with the current activity: it's shown if stderr is a terminal. Raises KeyboardInterrupt after Ctrl-C."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.time_left: TimeLeft | None = None
        self._check = check
        self._show: Callable[[str, TimeLeft | None], None] = lambda _, __: None

    def __call__(self, text: str) -> None:
        self._check()
        if self.time_left is not None:
            self.time_left.begin(text, time.monotonic())
        self._show(text, self.time_left)

    def expect(self, phases: Mapping[str, Effort]) -> None:
        """Estimate how long everything will take."""
        self.time_left = TimeLeft(phases)

    def counted(self, applications: int) -> None:
        if self.time_left is not None:
            self.time_left.counted(applications)


@contextmanager
def working(what: str, quiet: bool) -> Iterator[Say]:
    """A progress bar on stderr, if that's a terminal; yields the function that reports progress.

    It also says, once, that the solver is being compiled, which happens the first time on a machine.
    """
    with _interrupts_kept() as check:
        say = Say(check)
        if quiet or not sys.stderr.isatty():
            yield say
            return
        with _bar(what) as say._show:
            yield say


@contextmanager
def _interrupts_kept() -> Iterator[Callable[[], None]]:
    """Yields a function that raises KeyboardInterrupt if Ctrl-C was pressed; the end of the block raises it too.

    Ctrl-C raises it at once, but compiled code that calls back into Python (as numba's compiler does) may swallow it.
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
def _bar(what: str) -> Iterator[Callable[[str, TimeLeft | None], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    following: TimeLeft | None = None

    class Left(ProgressColumn):
        """The time left, updated at every redraw: a phase may take long without reporting anything."""

        def render(self, task: Task) -> Text:
            if following is None:
                return Text("")
            estimate, spent = following.estimate, following.spent(time.monotonic())
            task.total, task.completed = 1.0, estimate.done(spent)
            return Text(estimate.left(spent))

    texts = (TextColumn("{task.description}", markup=False), Left())
    columns = (SpinnerColumn(), BarColumn(24), TimeElapsedColumn(), *texts)
    with Progress(*columns, console=Console(file=bare(sys.stderr)), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def show(text: str, time_left: TimeLeft | None) -> None:
            nonlocal following
            following = time_left
            bar.update(task, description=printable(text), refresh=True)

        _on_compilation(lambda: bar.console.print(_compiles(), style="dim"))
        yield show


def _compiles() -> str:
    from auditkit.fitting.compile_options import KEPT

    often = "once" if KEPT else "in every run: no folder for compiled code is writable (set NUMBA_CACHE_DIR to one)"
    return f"compiling the solver for this machine: some seconds, {often}"


def _on_compilation(tell: Callable[[], None]) -> None:
    """Call `tell` when numba compiles for the first time."""
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]
        def on_start(self, event_: Any) -> None:
            event.unregister("numba:compile", self)
            tell()

        def on_end(self, event_: Any) -> None:
            """Nothing."""

    event.register("numba:compile", Once())


def warn(line: str) -> None:
    """Print a warning, even if progress isn't shown."""
    click.echo(f"warning: {line}", err=True)


def load_plugins() -> Plugins:
    """Load every plugin; those that can't be used are named on stderr, or refused with --strict-plugins."""
    context = click.get_current_context()
    asked, root = context.meta, context.find_root().command
    with loading():
        from auditkit import plugin_manager

        plugins = plugin_manager.load(asked.get(PLUGINS_DIR, ()), taken=getattr(root, "commands", ()))
    strict = bool(asked.get(STRICT_PLUGINS))
    if plugins.warnings and strict:
        raise InputError([Problem("", line) for line in plugins.warnings])

    for line in plugins.warnings:
        warn(line)
    return replace(plugins, strict=strict, tell=warn)


PLUGINS_DIR, STRICT_PLUGINS = "plugins-dir", "strict-plugins"


def _remember(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Callback of an option that only `load_plugins` reads."""

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
verbose_option = click.option("-v", "--verbose", is_flag=True, help="print how long each stage took, on stderr")
config_option = click.option(
    "--config", type=click.Path(path_type=Path), default=HERE, show_default=True, metavar="AUDIT.toml"
)
audit_argument = click.argument("audit", type=click.Path(path_type=Path), metavar="AUDIT.toml")


class DataType(click.Path):
    """A path, or a database URL, which stays text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from auditkit.data.sql_query import is_url

        return value if is_url(value) else super().convert(value, param, ctx)


query_option = click.option(
    "--query", metavar="SQL", help="if DATA is a database URL: the SELECT that returns the rows"
)
_DATA_OPTIONS = (
    click.argument("data", type=DataType(path_type=Path), metavar="DATA...", nargs=-1),
    query_option,
    click.option(
        "--sheet",
        metavar="NAME",
        help="sheet of a workbook (default: the first with a table, and any with the same columns)",
    ),
    click.option("--config", type=click.Path(path_type=Path), metavar="AUDIT.toml", help="settings; see auditkit init"),
    click.option(
        "--map",
        multiple=True,
        metavar="ROLE=COLUMN",
        help="which column is what (repeatable); group=sex+race crosses columns, ROLE=none leaves out a role",
    ),
    click.option(
        "--cost",
        multiple=True,
        metavar="NUMBER",
        help="cost of an inspection, if the data has none; STAGE=NUMBER for each stage",
    ),
    click.option("--capacity", type=int, help="positions of each search, if the data has none"),
    *_PLUGIN_OPTIONS,
)
_FIT_OPTIONS = (
    click.option(
        "--value-scale",
        type=float,
        help="worth of one score point, in the unit of costs (default: revealed by the firm)",
    ),
    click.option("--fitter", metavar="NAME", help="how priors are learnt: empirical, normal, or a plugin's"),
    click.option("--propensity", is_flag=True, help="weight scores by the inverse chance of being inspected"),
    click.option("--blind", is_flag=True, help="with --group-aware: learn priors without the protected attributes"),
    click.option("--group-aware", is_flag=True, help="policies may use the group: a bound, not a proposal"),
)
_REPORT_OPTIONS = (
    click.option(
        "--format",
        "formats",
        metavar="html,pdf,xlsx,json",
        help="what to write (default: html,json); plugins may add formats",
    ),
    click.option(
        "--profile", metavar="NAME", help="rules of a place: nyc-ll144, california, new-jersey, eu-ai-act, uk or none"
    ),
    click.option(
        "--parts",
        metavar="summary|body|all",
        help="the first page only (summary), with the details (body), or with the annex too (all)",
    ),
    click.option(
        "--availability",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="CSV of group and share (or size, by pool): compare selections with a pool outside the firm",
    ),
    click.option(
        "--template-dir", type=click.Path(path_type=Path), help="folder of templates that replace the shipped ones"
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
    """A command's data and settings, and which of the settings came from the command line."""

    data: Place
    config: Config
    given: frozenset[str]


def takes_settings(*groups: Literal["fit", "constraints", "report"]) -> Callable[[F], Callable[..., Any]]:
    """Give a command the argument DATA and the options of these groups; it receives them as one `Request`.

    Options have the names in `auditkit.config.OPTIONS`, which says where they go.
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


def _request(data: tuple[str | Path, ...], config: Path | None, **options: Any) -> Request:
    with loading():
        from auditkit import config as configs
        from auditkit.data import source

    options["map"], options["cost"] = _mapping(options["map"]) or None, _cost(options["cost"])
    options["propensity"] = options.get("propensity") or None
    options["blind"] = options.get("blind") or None
    options["group_aware"] = options.get("group_aware") or None
    if specs := options.pop("specs", ()):
        from auditkit.constraints import spec

        options["constraints"] = [spec.parse(text) for text in specs]
    if available := options.get("availability"):
        from auditkit.data.availability_file import read_availability

        options["availability"] = read_availability(available)
    if formats := options.get("formats"):
        options["formats"] = tuple(name.strip().lower() for name in formats.split(","))
    if not data and config is None and HERE.is_file():
        click.echo(f"settings: {HERE}", err=True)
        config = HERE
    chosen = configs.choose(config, options)
    place = source.locate(source.expanded(data), chosen)
    if place is None:
        fix = f"give a file, or write {HERE} with auditkit init; --config names settings elsewhere"
        raise InputError(Problem("DATA", "no data is named", fix))
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
