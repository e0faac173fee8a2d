"""How the concrete machine hands matrices on: aggregates, functions, branches, loops."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cts.program.flow import Through
from cts.program.model import Branch, MatrixType, Program, Repeat, Scope, Statement
from reference.component import Bits, Flags


class FlowSteps:
    """The steps; :class:`reference.machine.Machine` has them, and mutants override them."""

    program: Program
    values: dict[str, Bits]
    types: dict[str, MatrixType]
    iteration: int = 0
    """Of the innermost loop."""

    def execute(self, body: Iterable[Statement]) -> None:
        """Runs statements."""
        raise NotImplementedError

    def through(self, statement: Through) -> Bits:
        """The value that comes out."""
        return self.values[statement.values[self.chosen(statement)]]

    def chosen(self, statement: Through) -> int:
        """The number of the value that comes out."""
        return statement.index

    def taken(self, statement: Branch) -> Flags:
        """Which tiles take the branch, [tiles, 1, 1]."""
        grid = self.program.grid
        workgroups = any(it.scope is Scope.WORKGROUP for it in self.types.values())
        tiles = np.arange(grid.workgroups if workgroups else grid.tiles)
        found: Flags = ((tiles >> statement.bit) % 2 == 1).reshape(-1, 1, 1)
        return found

    def branch(self, statement: Branch) -> None:
        """Runs both sides and takes each tile's own."""
        taken = self.taken(statement)
        self.execute(statement.then)
        self.execute(statement.otherwise)
        for merge in statement.results:
            then, otherwise = self.values[merge.then], self.values[merge.otherwise]
            self.values[merge.result] = np.where(taken, then, otherwise)

    def iterations(self, statement: Repeat) -> int:
        """How often a loop runs."""
        return statement.count

    def repeat(self, statement: Repeat) -> None:
        """Runs a loop."""
        outer = self.iteration
        for carry in statement.carried:
            self.values[carry.name] = self.values[carry.initial]
        for iteration in range(self.iterations(statement)):
            self.iteration = iteration
            self.execute(statement.body)
            following = [self.values[carry.following] for carry in statement.carried]
            for carry, value in zip(statement.carried, following, strict=True):
                self.values[carry.name] = value
        self.iteration = outer
        for carry in statement.carried:
            self.values[carry.result] = self.values[carry.name]
