"""What calls of tools and diffs in texts say was edited, whatever form they have."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.chain.calls import edits_of
from hy_memory.chain.patches import edits_in
from hy_memory.chain.replay import applied, replay
from hy_memory.values.code import FileEdit, Fragment

CALLS: list[tuple[str, dict[str, Any], list[FileEdit]]] = [
    ("edit", {"path": "./a.py", "old": "x", "new": "y"}, [FileEdit("a.py", (Fragment("x", "y"),))]),
    (
        "Edit",
        {"file_path": "a.py", "old_string": "x", "new_string": "y", "replace_all": True},
        [FileEdit("a.py", (Fragment("x", "y", everywhere=True),))],
    ),
    (
        "str_replace_based_edit_tool",
        {"command": "str_replace", "path": "a.py", "old_str": "x"},
        [FileEdit("a.py", (Fragment("x", ""),))],
    ),
    (
        "text_editor",
        {"command": "insert", "path": "a.py", "insert_line": 2, "new_str": "y"},
        [FileEdit("a.py", (Fragment("", "y\n", 3),))],
    ),
    ("Write", {"file_path": "a.py", "content": "all"}, [FileEdit("a.py", content="all")]),
    (
        "edit",
        {"path": "a.py", "old_str": "", "new_str": "all"},
        [FileEdit("a.py", content="all", is_new=True)],
    ),
    (
        "MultiEdit",
        {
            "file_path": "a.py",
            "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "v", "new_string": "w"}],
        },
        [FileEdit("a.py", (Fragment("x", "y"), Fragment("v", "w")))],
    ),
    (
        "many",
        {"edits": [{"path": "a.py", "old": "x", "new": "y"}, {"path": "b.py", "old": "v", "new": "w"}]},
        [FileEdit("a.py", (Fragment("x", "y"),)), FileEdit("b.py", (Fragment("v", "w"),))],
    ),
    ("delete_file", {"path": "a.py"}, [FileEdit("a.py", is_deleted=True)]),
    ("rename", {"old_path": "a.py", "new_path": "b.py"}, [FileEdit("b.py", old_path="a.py")]),
    (
        "bash",
        {"command": "git mv a.py lib/ && rm -f b.py"},
        [FileEdit("lib/a.py", old_path="a.py"), FileEdit("b.py", is_deleted=True)],
    ),
    ("shell", {"command": ["git", "mv", "a.py", "b.py"]}, [FileEdit("b.py", old_path="a.py")]),
    ("bash", {"command": "cat > a.py <<'EOF'\nx = 1\nEOF\n"}, [FileEdit("a.py", content="x = 1\n")]),
    (
        "replace_in_file",
        {"path": "a.py", "diff": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"},
        [FileEdit("a.py", (Fragment("x\n", "y\n"),))],
    ),
    (
        "edit",
        {"path": "a.py", "diff": "@@ -3,1 +3,1 @@ def f():\n-x\n+y\n"},
        [FileEdit("a.py", (Fragment("x\n", "y\n", 3, "def f():"),))],
    ),
    ("read", {"path": "a.py"}, []),
    ("grep", {"pattern": "x", "path": "src"}, []),
    ("bash", {"command": "cd lib && mv a b; rm *.pyc"}, []),
    ("bash", {"command": "echo 'no end"}, []),
    ("bash", {"command": "test -f a.py || rm a.py; rm b.py"}, [FileEdit("b.py", is_deleted=True)]),
    *(
        ("bash", {"command": command}, [FileEdit(path, is_unclear=True) for path in paths])
        for command, *paths in (
            ("sed -i 's/a/b/' a.py lib/b.py", "a.py", "lib/b.py"),
            ("sed -n 's/a/b/p' a.py",),
            ("perl -pi -e 's/a/b/' a.py", "s/a/b", "a.py"),
            ("python make.py > a.py 2> errors.txt", "a.py", "errors.txt"),
            ("pytest 2>&1 | tee a.log", "a.log"),
            ("pytest > /dev/null",),
            ("echo 'x > y' >>a.py", "a.py"),
            ("git checkout -- a.py", "a.py"),
            ("git restore ./a.py", "a.py"),
            ("cp a.py lib/", "lib/a.py"),
            ("grep -r '>' a.py",),
        )
    ),
    ("bash", {"command": "rm a.py 2>/dev/null"}, [FileEdit("a.py", is_deleted=True)]),
    ("odd", {"path": 3, "edits": ["x", None], "old": None}, []),
]

PATCH = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 x = 1
-y = 2
+y = 3
*** Add File: new.py
+one
+two
*** Delete File: gone.py
*** End Patch"""


@pytest.mark.parametrize(("name", "arguments", "edits"), CALLS)
def test_calls_of_the_usual_forms(name: str, arguments: dict[str, Any], edits: list[FileEdit]) -> None:
    assert list(edits_of(name, arguments)) == edits


@pytest.mark.parametrize(
    "arguments",
    [{"input": PATCH}, {"patch": PATCH}, {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}],
)
def test_the_form_of_apply_patch(arguments: dict[str, Any]) -> None:
    assert edits_of("apply_patch", arguments) == (
        FileEdit(
            "src/b.py",
            (Fragment("x = 1\ny = 2\n", "x = 1\ny = 3\n", header="def f():"),),
            old_path="src/a.py",
        ),
        FileEdit("new.py", content="one\ntwo\n"),
        FileEdit("gone.py", is_deleted=True),
    )


GIT = """Here it is:

```diff
diff --git a/old name.py b/new.py
similarity index 90%
rename from old name.py
rename to new.py
--- a/old name.py
+++ b/new.py
@@ -1,2 +1,2 @@ class A:
 x
-y
+z
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/made.py b/made.py
new file mode 100644
--- /dev/null
+++ b/made.py
@@ -0,0 +1,2 @@
+a
+b
\\ No newline at end of file
```
and more words"""


def test_the_form_of_git_in_the_midst_of_words() -> None:
    assert edits_in(GIT) == (
        FileEdit("new.py", (Fragment("x\ny\n", "x\nz\n", 1, "class A:"),), old_path="old name.py"),
        FileEdit("gone.py", is_deleted=True),
        FileEdit("made.py", content="a\nb"),
    )


def test_lengths_that_a_model_counted_wrongly_do_not_matter() -> None:
    text = "--- a.py\n+++ a.py\n@@ -1,9 +1,1 @@\n x\n-y\n+z\n+w\n"
    assert edits_in(text) == (FileEdit("a.py", (Fragment("x\ny\n", "x\nz\nw\n", 1),)),)


def test_blocks_of_search_and_replace_name_their_file_above() -> None:
    text = "src/a.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n"
    assert edits_in(text) == (FileEdit("src/a.py", (Fragment("x\n", "y\n"),)),)


@pytest.mark.parametrize(
    "text",
    [
        "@@",
        "--- a\n+++ b\n",
        "diff --git",
        "diff --git a b",
        "*** Begin Patch",
        "-- \n@@ -1 +1 @@",
        "SEARCH REPLACE",
        "@@ -1 +1 @@\n",
    ],
)
def test_what_is_no_diff_is_none(text: str) -> None:
    assert edits_in(text) == ()


LINES = st.lists(st.sampled_from(["a", "b", "", " c", "-d", "+e", "--- f", "@@ g", "é", "日本"]), max_size=12)


@given(LINES, LINES, st.booleans(), st.integers(0, 3))
def test_a_diff_leads_from_the_one_text_to_the_other(
    old: list[str], new: list[str], ends: bool, context: int
) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    after = after if ends else after.removesuffix("\n")
    lines = list(
        difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/x.txt", "b/x.txt", n=context)
    )
    diff = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    (done,) = replay(edits_in(diff), {"x.txt": before}) or [None]
    assert before == after if done is None else done.content == after


@given(
    st.text("ab\n", max_size=20),
    st.text("ab\n", min_size=1, max_size=4),
    st.text("ab\n", max_size=4),
    st.integers(0, 9),
)
def test_a_fragment_is_replaced_once_or_does_not_fit(text: str, old: str, new: str, line: int) -> None:
    made = applied(Fragment(old, new, line), text)
    if old in text:
        assert made in {
            text[:at] + new + text[at + len(old) :] for at in range(len(text)) if text.startswith(old, at)
        }
    elif made is not None:  # the last line without its end
        assert f"{text}\n".endswith(old)
        assert made == f"{text}\n".removesuffix(old) + new.removesuffix("\n")
