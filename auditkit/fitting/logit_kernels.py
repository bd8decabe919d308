"""Compiled kernel of the conditional logit (`conditional_logit.py`)."""

from __future__ import annotations

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import OPTIONS


@njit(**OPTIONS)
def likelihood(ptr, members, few, flip, chosen, x, b, most_odds):
    """Log likelihood, its slope, and minus its curvature, over strata members[ptr[i]:ptr[i + 1]].

    zero[k], one[k] and two[k] are e_k of those seen so far and its derivatives, added to in place from the largest k
    down; of the second derivatives the lower triangle is kept.
    """
    p = len(b)
    value, slope, curvature = 0.0, np.zeros(p), np.zeros((p, p))
    most = 0
    for i in range(len(few)):
        most = max(most, few[i])
    zero, one, two = np.zeros(most + 1), np.zeros((most + 1, p)), np.zeros((most + 1, p, p))
    largest = np.empty(most)
    for i in range(len(few)):
        own, k = members[ptr[i] : ptr[i + 1]], few[i]
        sign = -1.0 if flip[i] else 1.0
        eta = np.zeros(len(own))
        for j in range(len(own)):
            for a in range(p):
                eta[j] += sign * x[own[j], a] * b[a]
        for j in range(len(own)):  # the k largest, sorted; numpy's sort takes seconds to compile
            place = min(j, k)
            while place > 0 and largest[place - 1] < eta[j]:
                place -= 1
                if place + 1 < k:
                    largest[place + 1] = largest[place]
            if place < k:
                largest[place] = eta[j]
        last = largest[k - 1]  # of the last one chosen by weight: then e_k is among the largest of the e_j
        if largest[0] - last > most_odds:
            return -np.inf, slope, curvature
        for j in range(len(own)):
            eta[j] -= last
        for m in range(k + 1):
            zero[m] = 0.0
            for a in range(p):
                one[m, a] = 0.0
                for c in range(a + 1):
                    two[m, a, c] = 0.0
        zero[0] = 1.0
        log_scale = 0.0
        for j in range(len(own)):
            w, row = np.exp(eta[j]), x[own[j]]
            for m in range(min(j + 1, k), 0, -1):
                for a in range(p):
                    xa = sign * row[a]
                    for c in range(a + 1):
                        xc = sign * row[c]
                        cross = xa * one[m - 1, c] + xc * one[m - 1, a] + xa * xc * zero[m - 1]
                        two[m, a, c] += w * (two[m - 1, a, c] + cross)
                for a in range(p):
                    one[m, a] += w * (one[m - 1, a] + sign * row[a] * zero[m - 1])
                zero[m] += w * zero[m - 1]
            if j % 4 == 3:  # sums of products grow like binomial coefficients
                top = 0.0
                for m in range(k + 1):
                    top = max(top, zero[m])
                log_scale += np.log(top)
                for m in range(k + 1):
                    zero[m] /= top
                    for a in range(p):
                        one[m, a] /= top
                        for c in range(a + 1):
                            two[m, a, c] /= top
            if chosen[own[j]] != flip[i]:
                value += eta[j]
                for a in range(p):
                    slope[a] += sign * row[a]
        value -= np.log(zero[k]) + log_scale
        for a in range(p):
            mean = one[k, a] / zero[k]
            slope[a] -= mean
            for c in range(a + 1):
                spread = two[k, a, c] / zero[k] - mean * one[k, c] / zero[k]
                curvature[a, c] += spread
                if c < a:
                    curvature[c, a] += spread
    return value, slope, curvature
