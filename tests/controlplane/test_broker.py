"""The embedded broker: no file of it is ever seen half written."""

from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu.connection import Connection
from kombu.transport import filesystem

from controlplane.embedded import broker


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Any]:
    """A channel of the broker, in a folder of its own."""
    broker.use()
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path)}
    options = {**folders, "control_folder": str(tmp_path / "control")}
    connect: Any = Connection
    with connect("filesystem://", transport_options=options) as connection:
        yield connection.channel()


@pytest.fixture
def seen(channel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each file that others can see, whenever the broker is about to fill one."""
    sizes: list[int] = []
    locks: Any = filesystem.lock
    fills = Path.write_text

    def look() -> None:
        visible = [*tmp_path.glob("[!.]*.msg"), *tmp_path.glob("control/[!.]*.exchange")]
        sizes.extend(path.stat().st_size for path in visible)

    def lock(*args: Any) -> None:
        look()
        locks(*args)

    def fill(path: Path, *args: Any, **options: Any) -> int:
        look()
        return fills(path, *args, **options)

    monkeypatch.setattr(filesystem, "lock", lock)
    monkeypatch.setattr(Path, "write_text", fill)
    return sizes


def test_a_queue_and_its_messages_are_never_seen_empty(channel: Any, seen: list[int]) -> None:
    channel._queue_bind("night", "night", "", "night")
    channel._queue_bind("night", "other", "", "other")
    channel._put("night", {"number": 1})
    channel._put("night", {"number": 2})
    assert len(channel.get_table("night")) == 2
    assert [channel._get("night")["number"] for _ in range(2)] == [1, 2]
    assert seen
    assert 0 not in seen


def test_a_table_that_another_process_makes_meanwhile_is_kept(
    channel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "control" / "night.exchange"
    exists = Path.exists

    def just_before(path: Path) -> bool:
        found = exists(path)
        if path == table and not found:
            table.parent.mkdir()
            table.write_text('[["mine", "", "mine"]]')
        return found

    monkeypatch.setattr(Path, "exists", just_before)
    channel._queue_bind("night", "other", "", "other")
    assert {each.queue for each in channel.get_table("night")} == {"mine", "other"}
    assert not list(table.parent.glob(".*"))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"5", b"[]"])
def test_a_message_that_cannot_be_read_is_thrown_away_and_the_next_one_comes(
    channel: Any, tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "00000000000000000000_bad.night.msg").write_bytes(content)
    good = {"body": "", "headers": {}, "properties": {}}
    channel._put("night", good)
    assert channel._get("night") == good
    assert "thrown away" in caplog.text
    with pytest.raises(Empty):
        channel._get("night")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"5", b'["a"]', b"[[1]]"])
def test_a_table_that_cannot_be_read_is_made_again(
    channel: Any, tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "control").mkdir(exist_ok=True)
    (tmp_path / "control" / "night.exchange").write_bytes(content)
    channel._queue_bind("night", "night", "", "night")
    assert [each.queue for each in channel.get_table("night")] == ["night"]
    assert "thrown away" in caplog.text
