from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from karat.field.server.config import ServerConfig, ServerError, prepare, server_secret, site_address
from messages import refuses


def test_the_secret_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    config = prepare(data)
    assert stat.S_IMODE((data / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert prepare(data).secret == config.secret
    assert config.secret.hex() not in repr(config)
    assert [path.name for path in data.iterdir()] == ["secret"]


def test_servers_that_start_at_once_share_the_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: server_secret(tmp_path / "secret"), range(8)))
    assert len(made) == 1


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_secret_that_others_can_read(tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "secret").chmod(0o644)
    with refuses(ServerError, f"chmod 600 {tmp_path / 'secret'}"):
        prepare(tmp_path)


@pytest.mark.parametrize("text", ["", "not hex", "ab"])
def test_a_secret_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(text)
    (tmp_path / "secret").chmod(0o600)
    with refuses(ServerError, "secret"):
        prepare(tmp_path)


@pytest.mark.parametrize("url", ["ftp://x", "https://", "https://x/path", "https://x?a=1", "https://me@x", "x:y"])
def test_base_urls(url: str) -> None:
    with refuses(ServerError, url, "https://study.example.org"):
        ServerConfig(Path("data"), b"k" * 32, base_url=url)


@pytest.mark.parametrize(
    ("text", "address"),
    [("Study.example.org/", "https://study.example.org"), ("https://x.org:443/admin", "https://x.org"),
     ("localhost:8000", "http://localhost:8000"), ("[::1]:8000", "http://[::1]:8000")],
)  # fmt: skip
def test_addresses_as_people_type_them(text: str, address: str) -> None:
    assert site_address(text) == address
    assert ServerConfig(Path("data"), b"k" * 32, base_url=text).address == address


def test_hosts() -> None:
    def config(**given: str) -> ServerConfig:
        return ServerConfig(Path("data"), b"k" * 32, **given)  # type: ignore[arg-type]

    assert config(host="0.0.0.0").hosts is None
    assert "study.example.org" in (config(host="0.0.0.0", base_url="https://Study.example.org:8443").hosts or ())
    assert config(host="::1").address == "http://[::1]:8000"
    assert not config().secure


def test_a_proxy_needs_the_address_that_people_see() -> None:
    with refuses(ServerError, "--base-url"):
        ServerConfig(Path("data"), b"k" * 32, behind_proxy=True)


def test_arrivals_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_ARRIVALS_PER_MINUTE", "0")
    assert prepare(tmp_path).arrivals_per_minute == 0
    for wrong in ("many", "-1", "nan"):
        monkeypatch.setenv("KARAT_ARRIVALS_PER_MINUTE", wrong)
        with refuses(ServerError, f"KARAT_ARRIVALS_PER_MINUTE is {wrong}", 0):
            prepare(tmp_path)
