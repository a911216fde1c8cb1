"""Say where a rule table keeps what: the columns of its `heads`.

Cost: none; these are constants.
Invariant: every place below `HEADS` has one meaning, and `HEADS` is their number.
"""

PARAMETERS = 4
EXACT_VALUES = 1024
"""Up to this many values, a missing cell is tried as every one of them; beyond it, as
each value of its group, the rarest, the first and the last."""

# Columns of `heads`: sizes and flags, or where a part starts in `whole` or `real`; −1
# where a view has no such part. Constants, not an enumeration: Numba compiles them in.
VALUES = 0
JOINT = 1
MISSING = 2
RAREST = 3
DOMAIN = 4
HEIGHT = 5
METRIC = 6
SHARES = 7
RANKS = 8
CUMULATIVE = 9
PREFIX = 10
LEVELS = 11
NODE_SHARES = 12
NODE_LEAVES = 13
POSITIONS = 14
PAIRS = 15
PERSONS = 16
FIRST = 17
LAST = 18
APART = 19
HEADS = 20

FLAT_METRIC = 0
TREE_METRIC = 1
LINE_METRIC = 2
