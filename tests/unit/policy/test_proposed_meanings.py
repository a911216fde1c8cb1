"""What a column means decides what `init` asks for; every proposal runs as it is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.profiling.infer import infer
from sfumato.data.schema import Role
from sfumato.models.common.judged_columns import NOTHING_JUDGED
from sfumato.models.l_diversity import LDiversity
from sfumato.policy import Policy
from sfumato.policy.profiles import profile_of
from sfumato.policy.propose import propose
from sfumato.policy.proposed_requirements import judges_nothing

ROWS = 2000
DRAWS = np.random.default_rng(1)


def drawn(*values, shares=None):
    return DRAWS.choice(values, ROWS, p=shares).tolist()


def ages():
    return [str(age) for age in DRAWS.integers(20, 70, ROWS)]


LOANS = pa.table(
    {
        "AGEP": ages(),
        "black": drawn("yes", "no"),
        "self": drawn("0", "1"),
        "deny": drawn("yes", "no", shares=(0.12, 0.88)),
        "pbcr": drawn("yes", "no", shares=(0.07, 0.93)),
    }
)
CASES = pa.table(
    {
        "age": ages(),
        "sex": drawn("M", "F"),
        "T.categ": drawn("hs", "hsid", "id", "het", "blood", "mother"),
    }
)
MARRIAGES = pa.table(
    {
        "age": ages(),
        "sex": drawn("male", "female"),
        "children": drawn("0", "1", "2"),
        "religious": drawn("1", "2", "3", "4", "5"),
        "nbaffairs": drawn("0", "1", "3", "12", shares=(0.75, 0.1, 0.1, 0.05)),
    }
)
NASTY = pa.table(
    {
        "age": ages(),
        "city": drawn("a|b", "[c]", "d"),
        "disease": drawn("flu|cold", "none", "[x]"),
        "month": drawn("January", "May", "June", "October"),
        "severity": drawn("mild", "moderate", "severe"),
    }
)


@pytest.mark.parametrize(
    ("table", "judged"),
    [
        (LOANS, ("deny", "pbcr")),
        (CASES, ("T.categ",)),
        (MARRIAGES, ("religious", "nbaffairs")),
        (NASTY, ("disease", "severity")),
    ],
)
def test_what_is_sensitive_by_meaning_is_judged_and_the_release_holds(table, judged):
    policy = sf.propose(table).with_setting("algorithm.name", "mondrian")
    release = sf.anonymize(table, policy)
    assert release.judged == judged
    assert all(verdict["holds"] for verdict in release.verdicts)


def test_origin_and_age_are_read_from_the_names_of_code_books():
    policy = sf.propose(LOANS)
    assert policy.names(Role.QUASI) == ("AGEP", "black", "self")


def l_of(table, **asked):
    models = Policy.parse(propose(table, path=None, **asked).text).models()
    diverse = [model for model in models if isinstance(model, LDiversity)]
    return {name: model.l for model in diverse for name in model.on}


def flags(share, rows=ROWS):
    ill = round(rows * share)
    cells = ["yes"] * ill + ["no"] * (rows - ill)
    return pa.table({"age": (["20", "30"] * rows)[:rows], "hiv": cells})


def test_a_flag_that_one_row_in_fifty_has_is_judged():
    assert l_of(flags(0.02)) == {"hiv": 2}


def test_a_flag_that_hardly_anybody_has_would_cost_everything_and_is_named():
    text = propose(flags(0.019), path=None).text
    assert '# Groups may give away "hiv": too few values for l-diversity,' in text
    assert l_of(flags(0.019)) == {}


def test_a_rare_flag_of_a_small_table_is_named_too():
    assert l_of(flags(0.1, rows=190)) == {}
    assert l_of(flags(0.1, rows=200)) == {"hiv": 2}


def test_two_values_are_judged_under_a_profile_that_asks_for_three():
    asked = {"profile": "public-use"}
    assert l_of(flags(0.4), **asked) == {"hiv": 2}
    assert l_of(MARRIAGES, **asked) == {"religious": 3, "nbaffairs": 3}


def test_a_policy_says_at_its_head_that_nothing_is_judged():
    plain = pa.table({"age": ages(), "sex": drawn("m", "f")})
    head = propose(plain, path=None).text.split("[columns.")[0]
    assert f"# {NOTHING_JUDGED}" in head
    assert NOTHING_JUDGED not in propose(CASES, path=None).text


def test_a_sensitive_column_that_cannot_be_judged_is_not_taken_for_judged():
    assert judges_nothing(infer(flags(0.001)), profile_of("research-use"))


def test_values_that_read_like_published_cells_are_left_out_with_the_reason():
    text = propose(NASTY, path=None).text
    assert "2 of 3 values contain '|' or stand in brackets" in text
    policy = Policy.parse(text)
    assert policy.columns["city"].drop
    assert policy.names(Role.SENSITIVE) == ("disease", "severity")


def test_months_and_levels_keep_their_order_and_no_value_is_in_the_policy():
    text = propose(NASTY, path=None).text
    policy = Policy.parse(text)
    assert (policy.columns["month"].kind, policy.columns["month"].order) == (
        "ordered",
        "month",
    )
    assert policy.columns["severity"].order == "severity"
    assert not [cell for cell in ("May", "October", "moderate") if cell in text]


def test_groups_show_neighbors_of_months():
    policy = sf.propose(NASTY).with_setting("algorithm.name", "mondrian")
    shown = set(sf.anonymize(NASTY, policy).table["month"].to_pylist())
    alone = {"January", "May", "June", "October"}
    assert shown <= alone | {"{January|May}", "{June|October}", "*"}


def test_an_order_of_a_frame_is_not_replaced_by_the_usual_one():
    backward = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2] * 20), pa.array(["high", "medium", "low"]), ordered=True
    )
    table = pa.table({"age": ["20", "30", "40"] * 20, "level": backward})
    assert Policy.parse(propose(table, path=None).text).columns["level"].order is None
