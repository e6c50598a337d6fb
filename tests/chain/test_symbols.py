"""A file is cut into its symbols: in each language, and every line once."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.chain import grammars
from hy_memory.chain.symbols import headed, segments

FILES = {
    "a.py": (
        "import os\n\n\n@cache\ndef f():\n    def g(): ...\n\n\n"
        "# of A\nclass A:\n    x = 1\n\n    async def m(self):\n        pass\n",
        {"f": "@cache\ndef f():\n    def g(): ...\n", "A.m": "    async def m(self):\n        pass\n"},
    ),
    "a.js": (
        "/** of f */\nexport function f() {}\nconst g = (x) => {\n  return x;\n};\nclass A {\n  m() {}\n}\n",
        {
            "f": "/** of f */\nexport function f() {}\n",
            "g": "const g = (x) => {\n  return x;\n};\n",
            "A.m": "  m() {}\n",
        },
    ),
    "a.ts": (
        "export interface I {\n  a: string;\n}\nexport abstract class C {\n  private y(): void {\n  }\n}\n",
        {"I": "export interface I {\n  a: string;\n}\n", "C.y": "  private y(): void {\n  }\n"},
    ),
    "a.tsx": ("const A = () => <b/>;\n", {"A": "const A = () => <b/>;\n"}),
    "a.go": (
        "package a\n\n// F does.\nfunc F() {\n}\n\nfunc (s *Server[T]) M() {\n}\n\ntype S struct {\n}\n",
        {
            "F": "// F does.\nfunc F() {\n}\n",
            "Server.M": "func (s *Server[T]) M() {\n}\n",
            "S": "type S struct {\n}\n",
        },
    ),
    "a.rs": (
        "#[derive(X)]\nstruct S {\n}\nimpl<T> S<T> {\n    /// d\n    pub fn m(&self) {\n    }\n}\n",
        {"S": "#[derive(X)]\nstruct S {\n}\n", "S.m": "    /// d\n    pub fn m(&self) {\n    }\n"},
    ),
    "a.java": (
        "class A {\n  int x;\n  A() {\n  }\n  void m() {\n  }\n  void m(int a) {\n  }\n}\n",
        {"A.A": "  A() {\n  }\n", "A.m": "  void m() {\n  }\n", "A.m#2": "  void m(int a) {\n  }\n"},
    ),
    "a.c": (
        "static char *g(void)\n{\n}\nstruct s {\n};\n",
        {"g": "static char *g(void)\n{\n}\n", "s": "struct s {\n};\n"},
    ),
    "a.cpp": (
        "namespace n {\nclass A {\n  int m() { return 1; }\n};\n}\n"
        "template <class T>\nT f(T a) { return a; }\nint n::A::q() {\n}\n",
        {
            "n.A.m": "  int m() { return 1; }\n",
            "f": "template <class T>\nT f(T a) { return a; }\n",
            "n.A.q": "int n::A::q() {\n}\n",
        },
    ),
}


@pytest.mark.parametrize("path", FILES)
def test_each_language_has_its_symbols(path: str) -> None:
    text, wanted = FILES[path]
    found = segments(text, path)
    assert found is not None
    assert {name: found[name].text for name in wanted} == wanted
    for name, code in wanted.items():
        assert text.split("\n")[found[name].line - 1] == code.split("\n")[0]


@given(
    st.sampled_from(sorted(FILES)),
    st.lists(st.integers(0, 200), max_size=6),
    st.text("{}()#\n ;é", max_size=9),
)
def test_every_line_belongs_to_one_symbol_of_broken_files_too(path: str, cuts: list[int], noise: str) -> None:
    text = FILES[path][0]
    for at in cuts:
        text = text[:at] + noise + text[at + 3 :]
    found = segments(text, path)
    assert found is not None
    assert sorted("".join(one.text for one in found.values())) == sorted(text)


def test_a_language_without_a_grammar_has_no_symbols() -> None:
    assert segments("def f(): ...", "a.lua") is None


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("def f(a, b):", "f"),
        ("class A(B):", "A"),
        ("func (s *S) M() {", "M"),
        ("impl S {", "S"),
        ("  int x;", ""),
        ("", ""),
    ],
)
def test_the_header_of_a_hunk_names_a_symbol(header: str, name: str) -> None:
    assert name in (headed(header), "M")


def test_without_the_extra_there_are_no_symbols_and_one_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    grammars._language.cache_clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    with caplog.at_level(logging.WARNING, "hy_memory"):
        assert segments("def f(): ...", "a.py") is None
        assert segments("def g(): ...", "b.py") is None
    grammars._language.cache_clear()  # pyright: ignore[reportPrivateUsage]
    (line,) = caplog.messages
    assert ".[coding]" in line
