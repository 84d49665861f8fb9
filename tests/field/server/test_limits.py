from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karat.field.server.headers import Buckets


@given(st.lists(st.floats(0, 20), min_size=1, max_size=60), st.integers(1, 5), st.floats(1, 120))
def test_never_more_than_the_bucket_and_its_refill(pauses: list[float], at_once: int, per_minute: float) -> None:
    now = 0.0
    buckets = Buckets(per_minute, at_once, clock=lambda: now)
    allowed = 0
    for pause in pauses:
        now += pause
        wait = buckets.wait("192.0.2.1")
        allowed += wait == 0
        if wait:
            now += wait * 1.000001  # those who wait as long as asked get in
            assert buckets.wait("192.0.2.1") == 0
            allowed += 1
    assert allowed <= at_once + now * per_minute / 60 + 1e-6


def test_addresses_are_kept_apart_and_not_kept() -> None:
    buckets = Buckets(60, 1, clock=lambda: 0.0)
    assert buckets.wait("192.0.2.1") == 0
    assert buckets.wait("192.0.2.2") == 0
    assert buckets.wait("::ffff:192.0.2.1") > 0
    assert buckets.wait("2001:db8::1") == 0
    assert buckets.wait("2001:db8::ffff:1") > 0  # the same network
    assert buckets.wait("2001:db8:0:1::1") == 0
    assert "192.0.2" not in repr(vars(buckets))


def test_memory_is_bounded() -> None:
    now = 0.0
    buckets = Buckets(60, 2, clock=lambda: now, most=10)
    for number in range(100):
        now += 0.001
        buckets.wait(f"192.0.2.{number}")
        assert len(buckets._buckets) <= 10


def test_no_limit() -> None:
    buckets = Buckets(0, 1)
    assert not any(buckets.wait("192.0.2.1") for _ in range(50))
