"""Two columns of bounds are one quasi-identifier to every model."""

import pyarrow as pa

import sfumato as sf
from sfumato.data.schema import Role
from sfumato.models.lkc import Lkc
from sfumato.models.n_t_closeness import NTCloseness
from sfumato.pipeline.verification import Claim
from sfumato.policy import Policy

AGES = [str(age) for age in range(30, 36)]
PAIRS = {
    "age_from": ["30", "30", "31", "31", "32", "32"],
    "age_to": ["40", "41", "40", "42", "41", "42"],
    "ill": ["flu", "hiv", "flu", "hiv", "flu", "hiv"],
}


def check(columns, quasi, *models):
    table = pa.table(columns)
    return sf.check(table, quasi=quasi, sensitive=["ill"], requirements=models)


def test_six_different_ages_are_not_hidden_by_their_bounds():
    # Each bound alone is shared by two rows; both together are an age of one.
    for quasi in (["age"], ["age_from", "age_to"]):
        result = check(PAIRS, quasi, Lkc(l=1, k=2, c=1.0))
        assert not result.holds
        assert result.verdicts[0]["details"]["k"] == 1
        assert result.verdicts[0]["offending_groups"] == 6


def test_one_bound_is_no_natural_superset():
    # The two rows that share a lower bound share the illness: as a set of its own,
    # that bound would make every row seem no different from its like.
    ill = ["flu", "flu", "hiv", "hiv", "cold", "cold"]
    result = check(PAIRS | {"ill": ill}, ["age"], NTCloseness(n=2, t=0.4))
    assert not result.holds
    assert round(result.verdicts[0]["measured"], 9) == round(2 / 3, 9)


def test_a_column_of_the_source_that_ends_like_a_bound_stays_a_column():
    policy = Policy.build(columns=["x_from"], quasi=["x_from"], k=1)
    claim = Claim(policy=policy, models=policy.models())
    assert policy.names(Role.QUASI) == ("x_from",)
    assert claim.quasi_columns(pa.table({"x_from": ["1"]})) == (("x_from",),)


def test_the_own_release_with_bounds_is_judged_by_whole_ages():
    release = sf.anonymize(
        pa.table({"age": AGES, "ill": PAIRS["ill"]}),
        quasi=["age"],
        sensitive=["ill"],
        require=[{"model": "lkc", "l": 1, "k": 2, "c": 0.8}],
        numbers="bounds",
    )
    assert "age_from" in release.table.column_names
    assert release.verdicts[0]["details"]["k"] >= 2


def test_offending_groups_of_smaller_sets_count():
    # Who knows "b" learns flu for sure. Who knows nothing is confident to 4 of 6, also
    # of the people of "a", whose own group is no better than a coin.
    columns = {
        "x": ["a", "a", "a", "a", "b", "b"],
        "ill": ["flu", "hiv", "flu", "hiv", "flu", "flu"],
    }
    table = pa.table(columns)
    result = sf.check(
        table, quasi=["x"], sensitive=["ill"], requirements=[Lkc(l=1, k=1, c=0.6)]
    )
    assert result.verdicts[0]["offending_groups"] == 2
