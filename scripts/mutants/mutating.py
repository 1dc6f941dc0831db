"""Mutants of a module: cosmic-ray's operators, those that tell something, and one of our own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import parso  # pyright: ignore[reportMissingImports] - comes with cosmic-ray
from cosmic_ray.ast import ast_nodes, get_ast  # pyright: ignore[reportMissingImports] - of the extra `mutants`
from cosmic_ray.mutating import mutate_code  # pyright: ignore[reportMissingImports]
from cosmic_ray.operators.operator import Operator  # pyright: ignore[reportMissingImports]
from cosmic_ray.plugins import get_operator  # pyright: ignore[reportMissingImports]


class DropStatement(Operator):
    """Leave a statement out: a call for its effect, a raise, an assignment to an attribute or item, `+=`."""

    def mutation_positions(self, node: Any) -> Any:
        if node.type == "simple_stmt" and _does_something(node.children[0]):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.children[0] = parso.parse(node.children[0].get_first_leaf().prefix + "pass")
        return node

    @classmethod
    def examples(cls) -> Any:
        return ()


def _does_something(statement: Any) -> bool:
    if statement.type == "expr_stmt":
        target, second = statement.children[:2]
        return second.type == "operator" and (second.value != "=" or target.type in ("atom_expr", "power"))
    return statement.type in ("raise_stmt", "atom_expr", "power", "del_stmt", "await_expr")


_BINARY = (
    *("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul"),
    *("BitOr_BitAnd", "BitAnd_BitOr", "LShift_RShift", "RShift_LShift"),
)
_COMPARISONS = ("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Is_IsNot", "IsNot_Is")
_OTHERS = (
    *("AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer"),
    *("ZeroIterationForLoop", "ReplaceUnaryOperator_USub_UAdd", "ReplaceUnaryOperator_Delete_Not"),
)
OPERATORS: dict[str, Any] = {
    **{f"Binary {name}": get_operator(f"core/ReplaceBinaryOperator_{name}")() for name in _BINARY},
    **{f"Comparison {name}": get_operator(f"core/ReplaceComparisonOperator_{name}")() for name in _COMPARISONS},
    **{name: get_operator(f"core/{name}")() for name in _OTHERS},
    "DropStatement": DropStatement(),
}


@dataclass(frozen=True)
class Mutant:
    """One change: the operator's so-many-th place in a module, and the lines of the statement that it is in."""

    operator: str
    occurrence: int
    line: int
    lines: range

    def of(self, source: str) -> str:
        """Return the module with this change."""
        changed: Any = mutate_code(source, OPERATORS[self.operator], self.occurrence)
        return changed


def mutants(source: str) -> list[Mutant]:
    """Return the mutants of a module by line; annotations and decorators are left alone."""
    statements, left_alone = _statements(source), list(_left_alone(source))
    nodes = list(ast_nodes(get_ast(source)))
    made = []
    for name, operator in OPERATORS.items():
        positions = (position for node in nodes for position in operator.mutation_positions(node))
        for occurrence, (start, _) in enumerate(positions):
            if not any(first <= tuple(start) < last and of in name for first, last, of in left_alone):
                lines = min((lines for lines in statements if start[0] in lines), key=len, default=range(0))
                made.append(Mutant(name, occurrence, start[0], lines))
    return sorted(made, key=lambda mutant: (mutant.line, mutant.operator, mutant.occurrence))


def _statements(source: str) -> list[range]:
    """Return the lines of each statement; of one that holds others those before the first."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt | ast.excepthandler)]
    ends = {
        id(node): body[0].lineno - 1 if (body := getattr(node, "body", None)) else node.end_lineno or node.lineno
        for node in nodes
    }
    return [range(node.lineno, max(node.lineno, ends[id(node)]) + 1) for node in nodes]


def _left_alone(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """Yield from where to where no mutant is made, and of which operators; empty for all of them."""
    for node in ast.walk(ast.parse(source)):
        decorators = getattr(node, "decorator_list", ())
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None), *decorators):
            if isinstance(part, ast.expr):
                yield (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0), ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):  # its `*` multiplies nothing
            yield (node.lineno, node.col_offset), (node.body[0].lineno, 0), "Binary"
