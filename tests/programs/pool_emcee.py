# SPDX-License-Identifier: MIT
"""emcee's ensemble sampler with its walkers spread over ranks by schwimmbad's MPIPool: a normal
distribution, from a fixed seed.
"""

import sys

import emcee
import numpy as np
from schwimmbad import MPIPool

DIMENSIONS, WALKERS, STEPS = 3, 24, 150
WIDTHS = np.array([1.0, 0.5, 2.0])


def log_probability(x):
    return -0.5 * float(np.sum((x / WIDTHS) ** 2))


def main():
    with MPIPool() as pool:
        if not pool.is_master():
            pool.wait()
            sys.exit(0)
        start = np.random.RandomState(1).normal(size=(WALKERS, DIMENSIONS))
        sampler = emcee.EnsembleSampler(WALKERS, DIMENSIONS, log_probability, pool=pool)
        sampler.random_state = np.random.RandomState(2).get_state()
        sampler.run_mcmc(start, STEPS)
    chain = sampler.get_chain(discard=50, flat=True)
    assert np.allclose(chain.std(axis=0), WIDTHS, rtol=0.35), chain.std(axis=0)
    print("chain", " ".join(f"{v:.12f}" for v in chain.mean(axis=0)), "accepted", sampler.acceptance_fraction.mean())


main()
