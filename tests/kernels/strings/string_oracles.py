"""The definitions again, in plain Python, for one pair of strings: slow, and short enough to be believed."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import log

from hypothesis import strategies as st

# Letters beyond the basic plane, a combining accent, a lone surrogate, a zero: whatever a str can hold.
letters = st.sampled_from("abAB é\u0301ß\U0001f600\U0001f601\ud800\x00")
texts = st.text(letters, max_size=9)
few = st.text("ab", max_size=7)
blobs = st.binary(max_size=9)
tokens = st.lists(st.sampled_from(["the", "cat", "The", 7, ("a", 1)]), max_size=7)
columns = st.one_of(*(st.lists(kind, min_size=1, max_size=5) for kind in (texts, few, blobs, tokens)))
"""A column of strings, all of one type."""


def grams(x, k):
    return Counter(tuple(x[i : i + k]) for i in range(len(x) - k + 1))


def inner(x, z):
    """The inner product of two Counters."""
    return sum(count * z[key] for key, count in x.items())


def spectrum(x, z, k):
    return inner(grams(x, k), grams(z, k))


def blended(x, z, k, decay):
    return sum(decay ** (2 * j) * spectrum(x, z, j) for j in range(1, k + 1))


def mismatch(x, z, k, m, alphabet):
    """Over every word of the alphabet."""

    def near(s):
        runs = [s[i : i + k] for i in range(len(s) - k + 1)]
        return [sum(sum(a != b for a, b in zip(u, run, strict=True)) <= m for run in runs) for u in words]

    words = list(product(alphabet, repeat=k))
    return sum(a * b for a, b in zip(near(x), near(z), strict=True))


def gappy(x, z, length, decay):
    """Over every choice of places, in fractions."""

    def features(s):
        found = Counter()
        for places in combinations(range(len(s)), length):
            found[tuple(s[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
        return found

    decay = Fraction(decay)
    return float(inner(features(x), features(z)))


def gappy_plain(x, z, length, decay):
    """Lodhi et al., section 3, as it stands: the loop of plain Python with which speed is compared."""
    lower = [[1.0] * (len(z) + 1) for _ in range(len(x) + 1)]
    for _ in range(length - 1):
        upper = [[0.0] * (len(z) + 1) for _ in range(len(x) + 1)]
        for i in range(1, len(x) + 1):
            run = 0.0
            for j in range(1, len(z) + 1):
                run = decay * run + (decay * decay * lower[i - 1][j - 1] if x[i - 1] == z[j - 1] else 0.0)
                upper[i][j] = decay * upper[i - 1][j] + run
        lower = upper
    return sum(decay * decay * lower[i][j] for i, a in enumerate(x) for j, b in enumerate(z) if a == b)


def edit_distance(x, z):
    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        kept = distance(i - 1, j - 1) + (x[i - 1] != z[j - 1])
        return min(kept, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    return distance(len(x), len(z))


def common_length(x, z):
    """The longest subsequence of x that z has, among all of them."""

    def has(s, word):
        rest = iter(s)
        return all(letter in rest for letter in word)

    lengths = (n for n in range(len(x), -1, -1) if any(has(z, word) for word in combinations(x, n)))
    return next(lengths)


def idf(documents, having):
    return log((1 + documents) / (1 + having)) + 1
