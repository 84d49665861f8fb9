"""Random numbers as R draws them: the paper's tasks are those of R's seed 123."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri


def r_normal(seed: int, number: int) -> NDArray[np.float64]:
    """What `set.seed(seed); rnorm(number)` gives in R: Mersenne Twister, by inversion with two uniforms each.

    >>> r_normal(123, 2).round(6).tolist()
    [-0.560476, -0.230177]
    """
    state = seed
    for _ in range(50):
        state = (69069 * state + 1) % 2**32
    words = []
    for _ in range(625):
        state = (69069 * state + 1) % 2**32
        words.append(state)
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": np.array(words[1:], dtype=np.uint32), "pos": 624}}
    uniform = np.clip(twister.random_raw(2 * number) * 2.3283064365386963e-10, 1e-12, 1 - 1e-12)
    big = 134217728
    return np.asarray(ndtri((np.floor(big * uniform[::2]) + uniform[1::2]) / big))
