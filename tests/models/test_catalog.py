"""The catalog and the store: what is promised, what is here, and how refusals read."""

from __future__ import annotations

from pathlib import Path

import pytest

import models
from firstword.testing.index import catalog, file
from models import Catalog, CatalogRefused, Store, WeightsMissing, default_folder

BODY = b"weights"
ENTRY = {"packages": {"little": "1.0"}, "files": [file("model.bin", BODY, "little:a/model.bin")]}


def one(folder: Path) -> Store:
    return Store(folder / "store", catalog(folder, {"one": ENTRY}))


def test_the_public_names_are_these() -> None:
    assert models.__all__ == [
        "Catalog",
        "CatalogRefused",
        "Lane",
        "Lanes",
        "LanesClosed",
        "ModelsError",
        "Progress",
        "Store",
        "Weights",
        "WeightsMissing",
        "WeightsRefused",
        "default_folder",
        "pull",
    ]
    assert all(hasattr(models, name) for name in models.__all__)


def test_the_embedded_set_is_in_the_catalog_and_the_larger_recogniser_is_not_fetched_unasked() -> None:
    default = {weights.name for weights in Catalog() if weights.default}
    assert default == {"piper-en_US-joe-medium", "whisper-tiny.en", "smart-turn-v3.2", "minilm-l6", "smollm2-135m"}
    assert {weights.name for weights in Catalog()} - default == {"whisper-base", "kokoro-82m-ja"}


@pytest.mark.parametrize("name", [weights.name for weights in Catalog()])
def test_every_entry_says_what_it_is_for_its_licence_and_its_size(name: str) -> None:
    weights = Catalog()[name]
    assert weights.what_for
    assert weights.licence
    assert weights.bytes > 1_000_000
    assert weights.download_bytes > 1_000_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"files": [{**file("m", BODY, "little:m"), "sha256": "abc"}]}, "m has no sha256", id="no-sum"),
        pytest.param({"files": [file("../m", BODY, "little:m")]}, "no plain file name", id="outside-its-folder"),
        pytest.param({"files": []}, "no files", id="no-files"),
        pytest.param({"files": [file("m", BODY)]}, "m comes from nowhere", id="no-source"),
        pytest.param({"files": [file("m", BODY, "other:m")]}, "other", id="unlisted-package"),
        pytest.param({"files": [file("m", BODY, "little")]}, "not whole", id="no-path-in-the-wheel"),
        pytest.param({"packages": 3}, "not whole", id="packages-are-a-number"),
        pytest.param({"hub": {"repository": "a/b", "files": {}}}, "not the same files", id="hub-without-the-files"),
    ],
)
def test_an_entry_that_is_not_whole_is_refused_by_name(change: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogRefused, match=rf"\[one\] is not whole: .*{said}|\[one\] is {said}"):
        catalog(tmp_path, {"one": {**ENTRY, **change}})


@pytest.mark.parametrize("text", [pytest.param("[one", id="no-toml"), pytest.param(None, id="no-file")])
def test_a_catalog_that_cannot_be_read_is_refused_by_path(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "catalog.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CatalogRefused, match=r"catalog\.toml cannot be read"):
        Catalog(path)


def test_an_unknown_name_gets_a_hint_or_the_list() -> None:
    with pytest.raises(CatalogRefused, match=r"did you mean whisper-tiny\.en\?"):
        Catalog()["whisper-tiny"]
    with pytest.raises(CatalogRefused, match="there are piper-en_US-joe-medium, "):
        Catalog()["zzz"]


def test_missing_weights_name_the_command_that_fetches_them(tmp_path: Path) -> None:
    store = one(tmp_path)
    assert not store.present("one")
    with pytest.raises(WeightsMissing, match=r"the weights one \(a test, .* firstword models pull one$"):
        store.path("one")


def test_short_weights_are_damaged_and_say_which_file(tmp_path: Path) -> None:
    store = one(tmp_path)
    (store.folder / "one").mkdir(parents=True)
    (store.folder / "one" / "model.bin").write_bytes(BODY[:-1])
    assert not store.present("one")
    with pytest.raises(WeightsMissing, match=r"damaged: .*model\.bin has 6 bytes, not 7; .* models pull one$"):
        store.path("one")


def test_whole_weights_are_given_as_their_folder(tmp_path: Path) -> None:
    store = one(tmp_path)
    (store.folder / "one").mkdir(parents=True)
    (store.folder / "one" / "model.bin").write_bytes(BODY)
    assert store.present("one")
    assert store.path("one") == store.folder / "one"
    assert store.faults(store.catalog["one"]) == []


def test_a_changed_byte_is_found_by_its_sum_though_the_size_is_right(tmp_path: Path) -> None:
    store = one(tmp_path)
    (store.folder / "one").mkdir(parents=True)
    (store.folder / "one" / "model.bin").write_bytes(b"Weights")
    assert store.present("one")
    assert store.faults(store.catalog["one"]) == ["model.bin is not what the catalog promises"]


def test_weights_lie_in_the_users_cache_unless_it_is_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "firstword" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_folder() == tmp_path / "home" / ".cache" / "firstword" / "models"


@pytest.mark.models
@pytest.mark.parametrize("name", [weights.name for weights in Catalog() if weights.default])
def test_the_embedded_weights_are_here_and_whole(name: str) -> None:
    from firstword.settings import load_settings

    store = Store(load_settings().models)
    assert store.faults(store.catalog[name]) == []
