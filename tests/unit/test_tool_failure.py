"""Which answers of tools say that nothing was done, and which only print such words."""

from __future__ import annotations

import json

import pytest

from hy_memory.work.failure import says_failed


@pytest.mark.parametrize(
    "answer",
    [
        "Error: no such file",
        "error: old_string not found",
        "Traceback (most recent call last):\n  …",
        "fatal: not a git repository",
        "Exit code 1\nrm: cannot remove 's.py'",
        "exit code: 127",
        "Process exited with code 2",
        "some output\nexit status 1",
        "bash: rm: command not found",
        "rm: cannot remove 's.py': Permission denied",
        "cat: s.py: No such file or directory",
        "Permission denied",
        "Command failed",
        "<tool_use_error>String to replace not found</tool_use_error>",
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        "Edit rejected by the user",
        "用户拒绝了此操作",
        "错误：文件不存在",
        json.dumps({"error": "denied"}),
        json.dumps({"exit_code": 1, "stdout": ""}),
        json.dumps({"returncode": 2}),
        json.dumps({"success": False}),
        json.dumps({"ok": False, "message": "no"}),
    ],
)
def test_a_failure_is_known_by_its_words(answer: str) -> None:
    assert says_failed(answer)
    assert says_failed(f"\n {answer}\n")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "ok",
        "The file s.py has been updated.",
        "Exit code 0",
        "Process exited with code 0",
        "12 passed, 1 failed in 0.3s\nthe fix of the error is in",
        "1: def handle():\n2:     raise OSError('Permission denied')\n3:     return 1",
        "removed 's.py'",
        json.dumps({"error": None, "success": True}),
        json.dumps({"exit_code": 0, "stderr": "warning: error prone"}),
        json.dumps({"status_code": 200}),
        "{not json: error",
        "see exit code 3 in the manual",
        "x" * 10_000 + "\nrejected by the user\nend",
    ],
)
def test_other_words_are_no_failure(answer: str) -> None:
    assert not says_failed(answer)
