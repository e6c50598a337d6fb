"""A file cut into its symbols: every line belongs to one function, one class beside its methods, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hy_memory.chain.grammars import parsed

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset((
    "function_definition", "function_declaration", "generator_function_declaration", "method_definition",
    "method_declaration", "constructor_declaration", "compact_constructor_declaration", "function_item",
    "function_signature_item", "function_signature", "abstract_method_signature", "macro_definition",
))  # fmt: skip
_CONTAINERS = frozenset((
    "class_definition", "class_declaration", "abstract_class_declaration", "interface_declaration",
    "enum_declaration", "record_declaration", "annotation_type_declaration", "internal_module",
    "struct_item", "union_item", "enum_item", "trait_item", "impl_item", "mod_item", "type_item",
    "class_specifier", "struct_specifier", "union_specifier", "enum_specifier", "namespace_definition",
    "type_spec", "type_alias_declaration", "type_definition",
))  # fmt: skip
_ASSIGNED = frozenset(
    ("variable_declarator", "field_definition", "public_field_definition", "assignment_expression")
)
_ANONYMOUS = frozenset(("arrow_function", "function_expression", "generator_function"))
"""What is a function by the name it is assigned to."""
_WRAPPERS = frozenset((
    "decorated_definition", "export_statement", "template_declaration", "expression_statement",
    "lexical_declaration", "variable_declaration", "type_declaration", "ambient_declaration",
    "linkage_specification",
))  # fmt: skip
"""What may stand around one symbol and belongs to it: decorators, `export`, `template`."""
_ABOVE = frozenset(("comment", "line_comment", "block_comment", "attribute_item", "decorator"))
_NAMES = ("name", "declarator", "left", "property", "type")
_NOT_BODIED = frozenset(("class_specifier", "struct_specifier", "union_specifier", "enum_specifier"))
"""Without a body these only mention a type."""
_HEADED = re.compile(
    r"(?:\b(?:class|struct|interface|trait|enum|impl|namespace|mod)\s+([\w$]+))|([\w$~]+)\s*(?:<[^<>]*>)?\s*\("
)


@dataclass(frozen=True, slots=True)
class Segment:
    """All lines of a symbol, "" for those outside every symbol; `line` is the first of them, from 1."""

    symbol: str
    text: str
    line: int
    is_remainder: bool = False
    """It is what is left beside the symbols in it, so that blank lines say nothing."""


def segments(text: str, path: str) -> dict[str, Segment] | None:
    """Return a file's symbols by name, in the order of their first lines; None where no grammar fits.

    Together they hold every line once. Methods are named after their class; of symbols that share a name
    the second is `name#2`, and so on.
    """
    tree = parsed(text, path)
    if tree is None:
        return None
    lines = lines_of(text)
    owners = [""] * len(lines)
    remainders = {""}
    counts: dict[str, int] = {}
    for name, node, is_container in _symbols(tree.root_node, ""):
        counts[name] = counts.get(name, 0) + 1
        own = name if counts[name] == 1 else f"{name}#{counts[name]}"
        if is_container:
            remainders.add(own)
        first, last = _extent(node)
        for at in range(first, min(last + 1, len(lines))):
            owners[at] = own
    texts: dict[str, list[str]] = {}
    starts: dict[str, int] = {}
    for at, (line, owner) in enumerate(zip(lines, owners, strict=True)):
        texts.setdefault(owner, []).append(line)
        starts.setdefault(owner, at + 1)
    return {
        name: Segment(name, "".join(held), starts[name], name in remainders) for name, held in texts.items()
    }


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; unlike `str.splitlines`, only line feeds end one."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def headed(header: str) -> str:
    """Return the symbol that the line above a hunk names, "" where it names none."""
    found = _HEADED.search(header)
    return (found[1] or found[2]) if found else ""


def _symbols(node: Node, around: str) -> Iterator[tuple[str, Node, bool]]:
    """Yield what is named, the outer before the inner: its name, its node, whether others stand in it."""
    for child in node.named_children:
        kind = child.type
        is_bodiless = kind in _NOT_BODIED and child.child_by_field_name("body") is None
        if kind in _FUNCTIONS or (kind in _ASSIGNED and _assigns_function(child)):
            yield _joined(_receiver(child) or around, _name(child)), child, False
        elif kind in _CONTAINERS and not is_bodiless and (name := _name(child)):
            whole = _joined(around, name)
            yield whole, child, True
            yield from _symbols(child, whole)
        else:
            yield from _symbols(child, around)


def _assigns_function(node: Node) -> bool:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    return value is not None and value.type in _ANONYMOUS


def _name(node: Node) -> str:
    """Return what a node is called, "" for what has no name."""
    fields = ("type",) if node.type == "impl_item" else _NAMES
    named = next((found for field in fields if (found := node.child_by_field_name(field))), None)
    while named is not None and (inner := named.child_by_field_name("declarator")) is not None:
        named = inner
    if named is not None and named.type == "generic_type":
        named = named.child_by_field_name("type")
    if named is None or named.text is None:
        return ""
    name = named.text.decode(errors="replace").replace("::", ".").removeprefix("module.exports.")
    return "".join(name.split()).lstrip("*&")


def _receiver(node: Node) -> str:
    """Return the type that a method of Go is of."""
    receiver = node.child_by_field_name("receiver")
    found = None if receiver is None else re.search(rb"(\w+)\s*(?:\[[^\]]*\])?\s*\)$", receiver.text or b"")
    return found[1].decode(errors="replace") if found else ""


def _joined(around: str, name: str) -> str:
    return f"{around}.{name}" if around and not name.startswith(f"{around}.") else name


def _extent(node: Node) -> tuple[int, int]:
    """Return the first and last line, from 0, of a symbol with its decorators and the comment above it."""
    whole = node
    while (parent := whole.parent) is not None and parent.type in _WRAPPERS:
        if sum(child.type not in _ABOVE for child in parent.named_children if child != whole) and (
            parent.type not in ("template_declaration", "decorated_definition")
        ):
            break  # one of several: the others do not belong to it
        whole = parent
    first, above = whole.start_point.row, whole.prev_named_sibling
    while above is not None and above.type in _ABOVE and above.start_point.column <= whole.start_point.column:
        if _last_row(above) != first - 1 or _shares_line(above):
            break
        first, above = above.start_point.row, above.prev_named_sibling
    return first, _last_row(whole)


def _last_row(node: Node) -> int:
    """Return the last line that a node has a character on."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


def _shares_line(node: Node) -> bool:
    """Return whether a comment ends a line of something else."""
    before = node.prev_named_sibling
    return before is not None and _last_row(before) == node.start_point.row
