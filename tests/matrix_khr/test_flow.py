"""What the oracle makes of branches, loops, aggregates, barriers and accesses out of bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cts.program.arithmetic import Binary, Operator
from cts.program.codec import from_json, to_json
from cts.program.flow import Barrier, Through, Via
from cts.program.model import (
    Address,
    Branch,
    Buffer,
    Carry,
    Component,
    Grid,
    Layout,
    Load,
    MatrixType,
    Merge,
    MulAdd,
    Pointee,
    Program,
    Repeat,
    Robust,
    Scope,
    Statement,
    Store,
    Use,
)
from cts.program.text import describe
from cts.program.valid import invalid
from reference.evaluate import Undetermined, evaluate
from reference.machine import Machine

S32 = Component.SINT32
KIND = MatrixType(S32, 4, 4, Use.ACCUMULATOR)
GRID = Grid(2, 2, 8)
CELLS = 16


def at(buffer: str, **more: int) -> Address:
    return Address(buffer, Layout.ROW_MAJOR, 4, 0, CELLS, **more)


def program(*body: Statement, grid: Grid = GRID, **more) -> Program:
    """Statements over buffers x, y and z of two matrices for each tile."""
    buffers = tuple(Buffer(name, Pointee(S32), 2 * CELLS * 4) for name in "xyz")
    return Program(grid, buffers, body, **more)


def memory(one: Program) -> dict[str, bytes]:
    """Every buffer counts from a number of its own."""
    return {
        buffer.name: np.arange(start, start + buffer.size, dtype=np.int32).tobytes()
        for start, buffer in zip((0, 1000, 2000), one.buffers, strict=True)
    }


def tiles(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.int32)[: 4 * CELLS].reshape(4, 4, 4)


def results(one: Program, buffer: str = "y") -> np.ndarray:
    """What the machine stores, which has to be what the oracle expects."""
    given = memory(one)
    after = Machine(one, given).run()
    expected = evaluate(one, given)
    for name, data in after.items():
        assert not expected[name].check(data).violations
    return tiles(after[buffer])


X = np.arange(4 * CELLS).reshape(4, 4, 4)


class TestBranch:
    def test_goes_by_a_bit_of_the_tile(self) -> None:
        body = Branch(1, (Load("a", KIND, at("x")),), (Load("b", KIND, at("z")),), MERGES)
        found = results(program(body, Store("r", at("y"))))
        assert (found[2:] == X[2:]).all()
        assert (found[:2] == X[:2] + 2000).all()

    def test_keeps_what_it_defines_to_itself(self) -> None:
        body = Branch(0, (Load("a", KIND, at("x")),), (Load("b", KIND, at("z")),), MERGES)
        assert "no value" in (invalid(program(body, Store("a", at("y")))) or "")

    def test_holds_no_stores(self) -> None:
        inside = (Load("a", KIND, at("x")), Store("a", at("y")))
        reason = invalid(program(Branch(0, inside, (), ())))
        assert reason == "Branches and loops hold no stores and no barriers."


MERGES = (Merge("r", "a", "b"),)


class TestRepeat:
    def test_loads_each_iteration_from_further_on(self) -> None:
        load = Load("q", KIND, at("x", step=4))
        add = Binary("s2", Operator.ADD, "s", "q")
        loop = Repeat(3, (Carry("s", "z0", "s2", "r"),), (load, add))
        found = results(program(Load("z0", KIND, at("z")), loop, Store("r", at("y"))))
        flat = np.arange(1000)
        for tile in range(4):
            starts = [tile * CELLS + 4 * i for i in range(3)]
            total = sum(flat[s : s + CELLS] for s in starts) + 2000 + flat[tile * CELLS :][:CELLS]
            assert (found[tile].ravel() == total).all()

    def test_of_no_iterations_gives_the_first_values(self) -> None:
        loop = Repeat(0, (Carry("s", "a", "s", "r"),), ())
        assert (results(program(Load("a", KIND, at("x")), loop, Store("r", at("y")))) == X).all()

    def test_rotates_all_carried_values_at_once(self) -> None:
        carries = (Carry("s", "a", "t", "r"), Carry("t", "b", "s", "q"))
        body = (
            Load("a", KIND, at("x")),
            Load("b", KIND, at("z")),
            Repeat(3, carries, ()),
            Store("r", at("y")),
        )
        assert (results(program(*body)) == X + 2000).all()

    def test_ends_inside_its_buffers(self) -> None:
        load = Load("q", KIND, at("x", step=CELLS))
        loop = Repeat(9, (Carry("s", "a", "q", "r"),), (load,))
        reason = invalid(program(Load("a", KIND, at("x")), loop, Store("r", at("y"))))
        assert reason is not None and "fit" in reason

    def test_steps_are_aligned(self) -> None:
        load = Load("q", KIND, at("x", step=1))
        loop = Repeat(2, (Carry("s", "a", "q", "r"),), (load,))
        reason = invalid(program(Load("a", KIND, at("x")), loop, Store("r", at("y"))))
        assert reason is not None and "multiple of 16" in reason

    def test_steps_are_taken_in_loops_only(self) -> None:
        reason = invalid(program(Load("a", KIND, at("x", step=4)), Store("a", at("y"))))
        assert reason is not None and "only in a loop" in reason


class TestThrough:
    @pytest.mark.parametrize("via", Via)
    def test_gives_the_chosen_value(self, via: Via) -> None:
        body = (
            Load("a", KIND, at("x")),
            Load("b", KIND, at("z")),
            Through("r", ("a", "b"), 1, via),
            Store("r", at("y")),
        )
        assert (results(program(*body)) == X + 2000).all()

    def test_needs_values_of_one_type(self) -> None:
        other = replace(KIND, use=Use.A)
        body = (
            Load("a", KIND, at("x")),
            Load("b", other, at("z")),
            Through("r", ("a", "b"), 1, Via.ARRAY),
        )
        assert invalid(program(*body)) == "r: what passes together has one type."

    def test_says_which_other_value_came_out(self) -> None:
        body = (
            Load("a", KIND, at("x")),
            Load("b", KIND, at("z")),
            Through("r", ("a", "b"), 1, Via.ARRAY),
            Store("r", at("y")),
        )
        one = program(*body)
        given = memory(one)
        wrong = Machine(program(*body[:2], Store("a", at("y"))), given).run()
        (violation,) = evaluate(one, given)["y"].check(wrong["y"]).violations
        assert "holds a, number 0 of the values" in violation.message


class TestBarriers:
    def body(self, *between: Statement) -> tuple[Statement, ...]:
        return (
            Load("a", KIND, at("x")),
            Store("a", at("y")),
            *between,
            Load("b", KIND, at("y", turn=1)),
            Store("b", at("z")),
        )

    def test_let_a_subgroup_see_another_ones_store(self) -> None:
        found = results(program(*self.body(Barrier())), "z")
        assert (found == X[[1, 0, 3, 2]]).all()

    @pytest.mark.parametrize("between", [(), (Barrier(Scope.SUBGROUP),)])
    def test_are_needed_for_that(self, between: tuple[Statement, ...]) -> None:
        one = program(*self.body(*between))
        with pytest.raises(Undetermined):
            evaluate(one, memory(one))

    def test_are_needed_before_the_memory_is_used_again(self) -> None:
        again = (Store("b", at("y")),)
        one = program(*self.body(Barrier()), *again)
        with pytest.raises(Undetermined):
            evaluate(one, memory(one))
        fenced = program(*self.body(Barrier()), Barrier(), *again)
        assert (results(fenced, "y") == X[[1, 0, 3, 2]]).all()

    def test_do_not_reach_other_workgroups(self) -> None:
        overlapping = replace(at("y"), offset=2 * CELLS, pitch=CELLS)
        body = (
            Load("a", KIND, at("x")),
            Store("a", at("y")),
            Barrier(),
            Load("b", KIND, overlapping),
            Store("b", at("z")),
        )
        one = program(*body)
        with pytest.raises(Undetermined):
            evaluate(one, memory(one))

    def test_order_accesses_in_one_way(self) -> None:
        reason = invalid(program(Barrier(by_access=True), Barrier()))
        assert reason == "Accesses are ordered by all barriers of a program or by none."


class TestMemory:
    def test_a_load_keeps_its_value_when_memory_changes(self) -> None:
        body = (
            Load("a", KIND, at("x")),
            Load("b", KIND, at("z")),
            Store("b", at("x")),
            Store("a", at("y")),
        )
        assert (results(program(*body)) == X).all()

    def test_floats_are_not_loaded_as_integers(self) -> None:
        floats = MatrixType(Component.FLOAT32, 4, 4, Use.ACCUMULATOR)
        body = (
            Load("a", floats, at("x")),
            Store("a", at("y")),
            Load("b", KIND, at("y")),
            Store("b", at("z")),
        )
        one = program(*body)
        with pytest.raises(Undetermined):
            evaluate(one, memory(one))

    def test_what_policy_alone_decides_is_not_required(self) -> None:
        half = Component.FLOAT16
        a, b, c = (MatrixType(half, 4, 4, use) for use in Use)
        body = (
            Load("a", a, at("x")),
            Load("b", b, at("x")),
            Load("c", c, at("x")),
            MulAdd("d", c, "a", "b", "c"),
            Store("d", at("y")),
            Load("e", replace(a), at("y")),
            Store("e", at("z")),
        )
        buffers = tuple(Buffer(name, Pointee(half), 64) for name in "xyz")
        one = Program(Grid(1, 1, 8), buffers, body)
        ones = np.full(64, 0x3C00, np.uint16).tobytes()
        given = {"x": ones, "y": bytes(128), "z": bytes(128)}
        after = Machine(one, given).run()
        wrong = bytearray(after["z"])
        wrong[0] ^= 1
        (violation,) = evaluate(one, given)["z"].check(bytes(wrong)).violations
        assert violation.band == "policy"


class TestFirstExtension:
    def product(self, value: int) -> tuple[Program, dict[str, bytes]]:
        kinds = [MatrixType(Component.SINT8, 4, 4, use) for use in (Use.A, Use.B)]
        body = (
            Load("a", kinds[0], replace(at("x"), stride=4)),
            Load("b", kinds[1], replace(at("x"), stride=4)),
            Load("c", KIND, at("z")),
            MulAdd("d", KIND, "a", "b", "c", True, True, True, True),
            Store("d", at("y")),
        )
        buffers = (
            Buffer("x", Pointee(Component.SINT8), 64),
            Buffer("y", Pointee(S32), 64),
            Buffer("z", Pointee(S32), 64),
        )
        one = Program(Grid(1, 1, 8), buffers, body, first=True)
        given = {
            "x": np.full(64, 127, np.int8).tobytes(),
            "y": bytes(256),
            "z": np.full(64, value, np.int32).tobytes(),
        }
        return one, given

    def test_integers_are_exact(self) -> None:
        one, given = self.product(5)
        after = Machine(one, given).run()
        assert not evaluate(one, given)["y"].check(after["y"]).violations

    def test_integers_that_overflow_are_refused(self) -> None:
        one, given = self.product(2**31 - 1)
        with pytest.raises(Undetermined):
            evaluate(one, given)
        evaluate(replace(one, first=False), given)

    def test_has_no_saturation(self) -> None:
        one, _ = self.product(0)
        body = [replace(it, saturating=True) if isinstance(it, MulAdd) else it for it in one.body]
        assert "saturate" in (invalid(replace(one, body=tuple(body))) or "")


class TestRobustAccess:
    def program(self, robust: Robust, visible: int, stores: bool) -> Program:
        spread = Address("x", Layout.ROW_MAJOR, 16, 0)
        wide = Address("y", Layout.ROW_MAJOR, 16, 0)
        buffers = tuple(
            Buffer(name, Pointee(S32), 96, visible=visible if bounded else None)
            for name, bounded in (("x", not stores), ("y", stores))
        )
        body = (Load("a", KIND, spread), Store("a", wide))
        return Program(Grid(1, 1, 8), buffers, body, robust=robust)

    def given(self, one: Program) -> dict[str, bytes]:
        starts = (100, 1000)
        return {
            buffer.name: np.arange(start, start + 96, dtype=np.int32).tobytes()
            for start, buffer in zip(starts, one.buffers, strict=True)
        }

    def check(self, one: Program, rows: list[int], values) -> list[str]:
        """The bands that a result with these values in some rows violates."""
        given = self.given(one)
        found = np.frombuffer(Machine(one, given).run()["y"], np.int32).copy()
        for row in rows:
            found[16 * row : 16 * row + 4] = values
        return [it.band for it in evaluate(one, given)["y"].check(found.tobytes()).violations]

    def test_lines_in_bounds_are_loaded(self) -> None:
        one = self.program(Robust.ONE, 24, stores=False)
        assert invalid(one) is None
        assert self.check(one, [], 0) == []
        assert self.check(one, [1], 5) == ["required"]

    def test_lines_out_of_bounds_may_be_anything(self) -> None:
        one = self.program(Robust.ONE, 24, stores=False)
        assert self.check(one, [2, 3], 77) == []

    def test_lines_out_of_bounds_are_zero_with_the_second_kind(self) -> None:
        one = self.program(Robust.TWO, 24, stores=False)
        assert self.check(one, [], 0) == []
        assert self.check(one, [3], 77) == ["required"]

    def test_stores_out_of_bounds_may_go_anywhere_in_their_buffer(self) -> None:
        one = self.program(Robust.ONE, 24, stores=True)
        assert self.check(one, [0, 2, 5], 77) == []

    def test_stores_out_of_bounds_change_nothing_with_the_second_kind(self) -> None:
        one = self.program(Robust.TWO, 24, stores=True)
        assert self.check(one, [], 0) == []
        assert self.check(one, [2], [132, 133, 134, 135]) == ["required"]
        assert self.check(one, [0], 77) == ["required"]

    def test_a_range_that_ends_near_a_line_is_refused(self) -> None:
        one = self.program(Robust.TWO, 18, stores=False)
        with pytest.raises(Undetermined):
            evaluate(one, self.given(one))

    def test_only_robust_programs_leave_the_bounds(self) -> None:
        one = replace(self.program(Robust.TWO, 24, stores=False), robust=None)
        assert invalid(one) == "x: only robust access leaves the bounds."


def test_every_program_here_is_written_and_read_again() -> None:
    loop = Repeat(2, (Carry("s", "a", "q", "r"),), (Load("q", KIND, at("x", step=4)),))
    branch = Branch(0, (), (), (Merge("t", "r", "a"),))
    body = (
        Load("a", KIND, at("x")),
        loop,
        branch,
        Through("u", ("t", "a"), 0, Via.NESTED),
        Barrier(by_access=True),
        Store("u", at("y")),
    )
    one = program(*body, robust=Robust.ONE, precise=True)
    assert from_json(to_json(one)) == one
    text = describe(one)
    for words in ("repeat 2 times", "if bit 0", "barrier of the workgroup", "4 per iteration"):
        assert words in text
