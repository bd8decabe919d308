"""Finished instances on disk: a CSV file per sweep, to which every instance adds its rows in one piece.

The first line says what the file holds (sweep, seed, levels of values) and the second names the columns. An instance is
finished if all its points are there; whatever else is found, such as the half-written end that a killed run leaves, is
dropped when the file is opened again. A file that holds something else is refused and left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from auditkit.errors import InputError
from auditkit.files import write_text
from auditkit.model.layout import Floats
from auditkit.plugins.study.sweeps import Sweep


class Store:
    """The file of one sweep and one seed."""

    def __init__(self, folder: Path, sweep: Sweep, seed: int) -> None:
        self.path = folder / f"{sweep.name}.seed-{seed}.csv"
        self.sweep = sweep
        self.seed = seed
        self.columns = ("instance", *sweep.keys, *sweep.numbers)
        self.blocks: dict[int, Floats] = {}
        if self.path.exists():
            self._read()

    @property
    def _head(self) -> str:
        what = f"# auditkit study: sweep {self.sweep.name}, seed {self.seed}, {self.sweep.atoms} levels of values"
        return f"{what}\n{','.join(self.columns)}\n"

    def _read(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        if not text.startswith(self._head):
            raise InputError(
                f"{self.path} is not what this version of auditkit writes for sweep {self.sweep.name!r}: "
                "remove it, or choose another folder with -o"
            )
        lines = text[len(self._head) :].split("\n")
        whole = lines[:-1]  # what follows the last line break was not finished
        by_instance: dict[int, list[list[float]]] = {}
        for line in whole:
            cells = line.split(",")
            if len(cells) == len(self.columns):
                by_instance.setdefault(int(cells[0]), []).append([float(cell) for cell in cells])
        found = {i: np.array(rows) for i, rows in by_instance.items()}
        self.blocks = {i: block for i, block in found.items() if len(block) == self.sweep.points}
        if sum(map(len, self.blocks.values())) != len(whole) or lines[-1]:
            write_text(self.path, self._head + "".join(map(_lines, self.blocks.values())))

    def add(self, number: int, rows: Sequence[tuple[float, ...]]) -> None:
        """One finished instance, written at once."""
        block = np.array([(number, *row) for row in rows], dtype=np.float64)
        if block.shape != (self.sweep.points, len(self.columns)):
            raise ArithmeticError(f"sweep {self.sweep.name} made {block.shape} numbers instead of {self.sweep.points}")
        text = _lines(block)
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            text = self._head + text
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
        self.blocks[number] = np.array([[float(cell) for cell in line.split(",")] for line in _lines(block).split()])

    def missing(self, instances: int) -> Iterator[int]:
        return (i for i in range(instances) if i not in self.blocks)

    def data(self, instances: int) -> Data:
        """The first instances; all must be finished."""
        return Data(self.columns[1:], np.array([self.blocks[i][:, 1:] for i in range(instances)]), self.sweep.keys)


def _lines(block: Floats) -> str:
    return "".join(",".join(f"{x:.12g}" for x in row) + "\n" for row in block)


class Data:
    """Numbers of a sweep: (instances, points) for each column."""

    def __init__(self, columns: Sequence[str], numbers: Floats, keys: Sequence[str]) -> None:
        self.columns = {name: numbers[:, :, i] for i, name in enumerate(columns)}
        self.keys = {name: numbers[0, :, columns.index(name)] for name in keys}
        self.instances = len(numbers)

    def at(self, number: str, **where: float) -> Floats:
        """(instances,) at one point, (instances, points) at several, in the order in which they were computed."""
        found = self.columns[number][:, self._where(where)]
        return found[:, 0] if len(where) == len(self.keys) else found

    def along(self, key: str, **where: float) -> Floats:
        """The values of a key at these points."""
        return self.keys[key][self._where(where)]

    def line(self, number: str, over: str, **where: float) -> tuple[Floats, Floats]:
        """A key's values in increasing order, and (instances, values) of a number there."""
        x = self.along(over, **where)
        order = np.argsort(x, kind="stable")
        return x[order], self.columns[number][:, self._where(where)][:, order]

    def _where(self, where: dict[str, float]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        chosen = np.ones(len(next(iter(self.keys.values()))), dtype=np.bool_)
        for key, value in where.items():
            chosen &= np.isclose(self.keys[key], value, rtol=0, atol=1e-9)
        if not chosen.any():
            raise KeyError(f"no point has {where}")
        return chosen
