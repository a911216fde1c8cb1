"""Repeated runs of the figures of Loukides and Shao 2008 differ in what is drawn."""

from __future__ import annotations

from experiments.tgc_sources import measured, normal, part, repeated
from sfumato.algorithms.clustering.tgc import Tgc
from sfumato.algorithms.partition.mondrian import Mondrian


def utilities(algorithm):
    return {measured(algorithm, part(normal(), None, 50, s)).utility for s in (1, 2)}


def test_another_seed_gives_tgc_other_groups_of_the_same_rows():
    assert len(utilities(Tgc(delta=0.5, split_limit=9.0, size=500))) == 2


def test_another_seed_changes_nothing_for_an_algorithm_that_draws_nothing():
    assert len(utilities(Mondrian(cut="widest"))) == 1


def test_a_figure_says_over_how_many_seeds_its_bands_are():
    assert repeated((1, 2, 3)).startswith("Bands: lowest and highest of 3 seeds;")
