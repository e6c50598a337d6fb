"""What `add` keeps of the edits of a coding session, with no language model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.chain.paths import relative
from hy_memory.values.code import CodeEdit, Ground
from hy_memory.work.observe import turns_of
from hy_memory.work.trace import parse_trace

WORKSPACE = "github.com/example/service"
HERE = Ground("u\x1fcoding", WORKSPACE, "main")


def call(name: str, result: str | None = None, **arguments: Any) -> list[dict[str, Any]]:
    """Return an assistant's message that calls a tool, and the tool's answer."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    named = str(function)
    made: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": named, "function": function}]}
    ]
    return made if result is None else [*made, {"role": "tool", "tool_call_id": named, "content": result}]


def ask(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


def store(client: HyMemoryClient, *messages: dict[str, Any], **more: Any) -> Any:
    place: dict[str, Any] = {"user_id": "u", "workspace_id": WORKSPACE, "branch": "main", "session_id": "s"}
    return client.add(list(messages), scene="coding", **{**place, **more})


def kept(client: HyMemoryClient, *paths: str, ground: Ground = HERE) -> Sequence[CodeEdit]:
    return client._open().ledger.edits(ground, paths or ["a.py"], 99)  # pyright: ignore[reportPrivateUsage]


def told(client: HyMemoryClient) -> list[tuple[str, str | None, str | None]]:
    return [(one.words, piece.before, piece.after) for one in kept(client) for piece in one.pieces]


def test_turns_are_what_each_message_led_to() -> None:
    messages = [
        *call("edit", path="a", old="0", new="1"),
        ask("first"),
        *call("edit", path="a", old="1", new="2"),
        *call("edit", "Error: no", path="a", old="x", new="y"),
        ask("only a question"),
        {"role": "assistant", "content": "an answer"},
        ask("first"),
        *call("edit", path="b", old="2", new="3"),
    ]
    turns = turns_of(parse_trace(messages), "before")
    assert [(turn.words, [one.path for one in turn.edits]) for turn in turns] == [
        ("before", ["a"]),
        ("first", ["a"]),
        ("first", ["b"]),
    ]


DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"


@pytest.mark.parametrize(
    ("messages", "paths"),
    [
        ([ask(f"apply this\n{DIFF.format('a')}")], ["a"]),
        ([ask("go"), {"role": "assistant", "content": DIFF.format("a")}], ["a"]),
        (
            [
                ask("go"),
                *call("edit", path="a", old="x", new="y"),
                {"role": "assistant", "content": DIFF.format("a")},
            ],
            ["a"],
        ),
        ([ask("go"), *call("smart_edit", DIFF.format("a"), instructions="y", where="a")], ["a"]),
        ([ask("go"), *call("bash", DIFF.format("a"), command="git diff")], []),
    ],
)
def test_diffs_in_words_and_results_count_once(messages: list[Any], paths: list[str]) -> None:
    assert [one.path for turn in turns_of(parse_trace(messages)) for one in turn.edits] == paths


def test_a_session_that_goes_on_knows_the_files_it_wrote(client: HyMemoryClient) -> None:
    code = "def f():\n    return {}\n"
    store(client, ask("make it"), *call("write", path="a.py", content=code.format(1)))
    store(client, ask("two"), *call("edit", path="a.py", old="return 1", new="return 2"))
    store(client, ask("three"), *call("edit", path="a.py", old="return 2", new="return 3"), session_id="t")
    assert told(client) == [
        ("make it", None, code.format(1)),
        ("two", code.format(1), code.format(2)),
        ("three", code.format(2), code.format(3)),
    ]


def test_an_edit_that_must_have_failed_changes_nothing(client: HyMemoryClient) -> None:
    """A file that is there cannot be made anew, nor is gone what a tool says it could not remove."""
    code = "def f():\n    return 1\n"
    store(client, ask("make it"), *call("write", path="a.py", content=code))
    store(client, ask("imports"), *call("edit", path="a.py", old_str="", new_str="import os\n"))
    store(client, ask("away"), *call("bash", "Exit code 1\nrm: cannot remove 'a.py'", command="rm a.py"))
    assert [one.words for one in kept(client, "a.py")] == ["make it"]


def test_a_file_known_of_one_source_is_not_known_of_another(client: HyMemoryClient) -> None:
    store(client, ask("make it"), *call("write", path="a.py", content="def f():\n    return 1\n"))
    store(client, ask("two"), *call("edit", path="a.py", old="return 1", new="return 2"), source="other")
    assert told(client)[1] == ("two", "return 1", "return 2")


def test_an_agent_that_sends_all_its_messages_anew_adds_only_what_is_new(client: HyMemoryClient) -> None:
    messages: list[dict[str, Any]] = []
    for at in range(4):
        messages += [ask("again"), *call("edit", "ok", path="a.py", old=f"x = {at}", new=f"x = {at + 1}")]
        store(client, *messages)
        store(client, *messages)
    assert [after for _, _, after in told(client)] == ["x = 1", "x = 2", "x = 3", "x = 4"]
    assert {words for words, _, _ in told(client)} == {"again"}


def test_chat_and_working_sessions_keep_no_edits(client: HyMemoryClient) -> None:
    messages = [ask("go"), *call("edit", path="a.py", old="x", new="y")]
    client.add(messages, user_id="u", scene="working", workspace_id=WORKSPACE, branch="main")
    client.add(messages, user_id="u")
    for user in ("u", "u\x1fworking", "u\x1fcoding"):
        assert kept(client, ground=Ground(user, WORKSPACE, "main")) == ()


@pytest.mark.parametrize(
    ("path", "root", "wanted"),
    [
        ("/r/src/a.py", "/r", "src/a.py"),
        ("/r2/a.py", "/r", "/r2/a.py"),
        ("src/a.py", "/r", "src/a.py"),
        ("/r/a.py", "", "/r/a.py"),
        ("", "/r", ""),
    ],
)
def test_paths_are_from_the_root_of_the_repository(path: str, root: str, wanted: str) -> None:
    assert relative(path, root) == wanted
