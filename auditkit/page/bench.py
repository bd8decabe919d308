"""The state that a worker keeps between tasks, and the interface of a task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from auditkit import plugin_manager
from auditkit.data.columns import ColumnProfile
from auditkit.data.raw_table import RawTable
from auditkit.plugin_manager import Plugins
from auditkit.report.time_left import TimeEstimate


@dataclass(frozen=True)
class TaskProgress:
    """The current activity, the share that is done or an estimate of it, and the stages with the current one."""

    says: str
    share: float = 0.0
    estimate: TimeEstimate | None = None
    spent: float = 0.0
    """Seconds that the current stage had taken when this was sent."""
    stages: tuple[str, ...] = ()
    at: int = -1


Say = Callable[[TaskProgress], None]


@dataclass
class Bench:
    """A worker's state for its one file; `key` says which file it is, and how it was read."""

    plugins: Plugins = field(default_factory=lambda: plugin_manager.load([]))
    raw: RawTable | None = None
    profiles: tuple[ColumnProfile, ...] = ()
    key: object = None
    explorer: object = None
    """Answers the sliders after a report: an `Explorer`."""
    idle: list[Callable[[], object]] = field(default_factory=list)
    """What the worker does when it's idle, the last one first."""


class Task(Protocol):
    """Something for a worker to do: a picklable value, called with the worker's state."""

    def __call__(self, bench: Bench, say: Say) -> object: ...
