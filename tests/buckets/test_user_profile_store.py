"""The profile of a store that is opened again, and the setting that says which fields are shown."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from hy_memory.errors import ConfigurationError
from hy_memory.profile.claim import BasicField
from hy_memory.settings.root import ProfileField
from tests.support.stores import LASTING, open_client

SAID = "My name is Maya, I'm 32 years old and I live in Lyon."


@pytest.mark.parametrize("backend", LASTING)
def test_a_profile_is_there_after_reopening(folder: Path, backend: str) -> None:
    with open_client(backend, folder) as client:
        client.add(SAID, user_id="u")
        before = client.get_user_profile(user_id="u")
    assert sorted(before["basic_info"]) == ["age", "location", "name"]
    with open_client(backend, folder) as client:
        assert client.get_user_profile(user_id="u") == before


def test_fields_are_shown_as_settings_say(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_client("faiss", folder, config={"profile": {"fields": ["age", "name"]}}) as client:
        client.add(SAID, user_id="u")
        assert list(client.get_user_profile(user_id="u")["basic_info"]) == ["name", "age"]
    monkeypatch.setenv("MEMORY_PROFILE_FIELDS", "location, employer")
    with open_client("faiss", folder) as client:
        assert list(client.get_user_profile(user_id="u")["basic_info"]) == ["location"]


def test_an_unknown_field_names_the_known_ones(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PROFILE_FIELDS", "name,adress")
    with pytest.raises(ConfigurationError, match="fields") as caught:
        open_client("faiss", folder)
    assert all(f"'{one}'" in str(caught.value) for one in BasicField)


def test_the_setting_knows_every_field() -> None:
    assert get_args(ProfileField) == tuple(one.value for one in BasicField)
