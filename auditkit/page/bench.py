"""What a worker keeps between its tasks, and what a task looks like."""

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
    """What is being done, the share that is done or an estimate of it, and the stages with the present one."""

    says: str
    share: float = 0.0
    estimate: TimeEstimate | None = None
    spent: float = 0.0
    """Seconds that the present stage had taken when this was said."""
    stages: tuple[str, ...] = ()
    at: int = -1


Say = Callable[[TaskProgress], None]


@dataclass
class Bench:
    """A worker serves one file; `key` says which one, and how it was read."""

    plugins: Plugins = field(default_factory=lambda: plugin_manager.load([]))
    raw: RawTable | None = None
    profiles: tuple[ColumnProfile, ...] = ()
    key: object = None
    explorer: object = None
    """What the sliders ask, after a report: an `Explorer`."""
    idle: list[Callable[[], object]] = field(default_factory=list)
    """What the worker does while nothing is asked of it, the last one first."""


class Task(Protocol):
    """Something to do in a worker: a value that can be sent, called with what the worker keeps between tasks."""

    def __call__(self, bench: Bench, say: Say) -> object: ...
