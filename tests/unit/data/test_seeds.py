import numpy as np
import pytest

from sfumato.data.seeds import Seed
from sfumato.errors import UsageError


def test_the_same_seed_and_path_give_the_same_draws():
    first = Seed.guessable(7).child("order").words(5)
    assert (first == Seed.guessable(7).child("order").words(5)).all()


def test_another_path_gives_other_draws():
    seed = Seed.guessable(7)
    assert (seed.child("a").words(4) != seed.child("b").words(4)).all()


def test_paths_cannot_be_confused_by_joining_names():
    seed = Seed.guessable(1)
    assert seed.child("ab", "c").words(1) != seed.child("a", "bc").words(1)


def test_fresh_seeds_differ():
    assert Seed.fresh().hex() != Seed.fresh().hex()


def test_a_seed_is_replayed_from_its_text():
    seed = Seed.fresh()
    assert (Seed.replay(seed.hex()).words(3) == seed.words(3)).all()


def test_a_seed_of_the_wrong_length_is_refused_with_the_length_it_needs():
    with pytest.raises(UsageError, match="32 hexadecimal digits"):
        Seed.replay("abc")


def test_a_permutation_holds_every_number_once():
    assert sorted(Seed.guessable(3).permutation(100)) == list(range(100))


def test_every_order_of_three_is_about_as_likely():
    # 6 orders, 6,000 draws: the chi-squared limit 30 is passed by chance with p < 2e-5,
    # and the seed is fixed.
    orders = [tuple(Seed.guessable(i).permutation(3)) for i in range(6000)]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 30


def test_uniform_numbers_stay_below_one():
    draws = Seed.guessable(5).uniform(1000)
    assert draws.min() >= 0
    assert draws.max() < 1


def test_a_guessable_seed_is_marked_insecure_down_every_path():
    assert Seed.guessable(1).child("x").insecure
    assert not Seed.fresh().child("x").insecure


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_a_permutation_is_the_order_of_its_words(count):
    seed = Seed.guessable(5).child("order")
    assert seed.permutation(count).tolist() == np.argsort(seed.words(count)).tolist()


def test_words_that_differ_in_their_lowest_bits_alone_are_ordered_by_them(monkeypatch):
    words = np.array([2, 1, 3, 0], dtype=np.uint64)
    monkeypatch.setattr(Seed, "words", lambda *_: words)
    assert Seed.guessable(5).permutation(4).tolist() == [3, 1, 0, 2]
