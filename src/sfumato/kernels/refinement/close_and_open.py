"""Close groups of a block and open others anywhere in it: ruin and recreate.

Pools only exchange rows between a few groups that are near each other. Here a group may
be closed, each of its rows placed where that costs least in the whole block; then boxes
of the lattice (`candidate_boxes`, `known_boxes`) are opened as new groups for rows that
lose more where they are, filled up with rows that other groups can spare. A group that is
left too small is closed as well. Each change is made, judged by what it really gains and
by the rules, and undone unless it is taken. While the search is warm, changes that lose a
little are taken, too: those lead to places that no single change reaches.

Paper: Schrimpf et al. 2000 (ruin and recreate), with boxes of a lattice as the pieces.
Cost: O(r × g × m) to place r rows among g groups on m axes, and what `candidate_boxes`
says; a block has a bounded number of rows, so a pass is linear in the table.
Invariant: every row keeps a group; every group meets every rule after each change that is
taken; boxes, sizes and histograms follow from the rows; GAIN is what the block gained,
which is below 0 where it was warm.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.geometry import HEIGHT, LEVELS, SIZE
from sfumato.kernels.common.random_streams import Stream, draw_below, draw_share
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.refinement.block_groups import (
    EMPTY,
    MOST_WORK,
    NO_GROUP,
    NOTED,
    USED,
    WORK,
    GroupBlock,
    all_meet,
    bar,
    begin_change,
    block_loss,
    cheapest_group,
    make_block,
    meets_rules,
    move,
    rows_of,
    settle,
    stretch,
    touch,
    undo_moves,
)
from sfumato.kernels.refinement.candidate_boxes import (
    FOUND,
    LOOKS,
    CandidateBoxes,
    Parts,
    find_boxes,
    room_for_boxes,
)
from sfumato.kernels.refinement.known_boxes import (
    PricedRows,
    choose_known_boxes,
    gap_of_group,
)
from sfumato.kernels.refinement.point_space import PointSpace
from sfumato.kernels.refinement.pools import PoolRules
from sfumato.kernels.refinement.refinement_round import (
    BETTER,
    GAIN,
    REFUSED,
    WEIGHED,
    RefinedGroups,
)

CLOSING, OPENING, LEAST, GAP = range(4)
"""Places of `heat`: how much a closed and an opened group may lose on average, the gain
from which a box is looked at, and the gap above its prices from which a group is closed."""
MOST_BOXES, PARTS_PER_ROW = 1 << 15, 100
"""Room for boxes, and for their parts."""
LARGE = 4
"""A group of so many times the minimum is not closed."""
LOOKS_PER_WEIGHED = 3
"""A look at a part of a box takes a third of the time of weighing up a group, and so does
one at a tuple of a box that is known."""
LEAST_GAIN = 1e-9


@both
def reopen_blocks(
    space: PointSpace,
    pool_rules: PoolRules,
    values: Codes,
    groups: RefinedGroups,
    blocks: Ints,
    bounds: Ints,
    first: int,
    last: int,
    starts: Stream,
    axes: Ints,
    priced: PricedRows,
    heat: Floats,
    most_looks: int,
    most_weighed: int,
    label: Ints,
    figures: Floats,
) -> None:
    """Close and open groups in some blocks; `label` gets a row of each row's new group.

    The lattice is searched for boxes, unless there are none to be looked at, because those
    are enough that are known.
    """
    space, pool_rules, groups = borrow(space), borrow(pool_rules), borrow(groups)
    priced = borrow(priced)
    stream = np.zeros(1, dtype=np.uint64)
    for number in range(first, last):
        stream[0] = starts[number]
        chosen = blocks[bounds[number] : bounds[number + 1]]
        rows = rows_of(groups, chosen)
        block = make_block(space, pool_rules, values, groups, chosen, rows)
        block.numbers[MOST_WORK] = most_weighed
        if not all_meet(pool_rules, block):
            figures[number, REFUSED] += 1
            continue
        before = block_loss(block)
        close_groups(space, pool_rules, block, rows, priced, heat, stream)
        if most_looks > 0 or len(priced.costs) == 0:
            open_groups(space, pool_rules, block, axes, heat, most_looks, stream)
        else:
            open_known(space, pool_rules, block, rows, priced, heat, stream)
        figures[number, GAIN] = before - block_loss(block)
        figures[number, BETTER] += figures[number, GAIN] > 0.0
        figures[number, WEIGHED] = block.numbers[WORK]
        for g in range(block.numbers[USED]):
            row = block.first[g]
            while row >= 0:
                label[rows[row]] = rows[block.first[g]]
                row = block.after[row]


@inner
def allowance(heat: float, stream: Stream) -> float:
    """How much a change may lose: as the Metropolis rule allows, and nothing when cold."""
    if heat <= 0.0:
        return -LEAST_GAIN
    return -heat * np.log(1.0 - draw_share(stream)) - LEAST_GAIN


@inner
def close_groups(
    space: PointSpace,
    pool_rules: PoolRules,
    block: GroupBlock,
    rows: Ints,
    priced: PricedRows,
    heat: Floats,
    stream: Stream,
) -> None:
    """Close groups, in random order, whose rows lose little more elsewhere.

    Groups that lose hardly more than the prices of their rows are left alone.
    """
    block = borrow(block)
    used = block.numbers[USED]
    order = np.arange(used)
    for i in range(used - 1, 0, -1):
        other = draw_below(stream, i + 1)
        order[i], order[other] = order[other], order[i]
    for g in order:
        large = block.size[g] > LARGE * max(pool_rules.minimum, 1)
        if block.numbers[WORK] > block.numbers[MOST_WORK]:
            return
        if block.size[g] == 0 or block.cost[g] <= 0.0 or large:
            continue
        if gap_of_group(priced, block, rows, g) >= heat[GAP]:
            allowed = allowance(heat[CLOSING], stream)
            close_group(space, pool_rules, block, g, allowed)


@inner
def close_group(
    space: PointSpace, pool_rules: PoolRules, block: GroupBlock, g: int, allowed: float
) -> bool:
    """Place the rows of group g elsewhere, unless that loses more than allowed."""
    begin_change(block)
    left = block.cost[g] * block.size[g] + allowed
    bar(block, g)
    ok = True
    while block.first[g] >= 0 and ok:
        row = block.first[g]
        other, cost = cheapest_group(space, block, row, left)
        ok = other != NO_GROUP
        if ok:
            left -= cost
            move(block, row, other)
            stretch(space, block, other, row)
            ok = pool_rules.plain or meets_rules(pool_rules, block, other)
    return settle(space, pool_rules, block, -allowed if ok else np.inf)


@inner
def parts_of(space: PointSpace, block: GroupBlock, minimum: int) -> tuple[Parts, Ints]:
    """Rows that are alike in the same group, and the first row of each such part."""
    count = len(block.codes)
    group = np.empty(count, dtype=np.int64)
    row_of = np.empty(count, dtype=np.int64)
    rows = np.zeros(count, dtype=np.int64)
    found = begin = 0
    for row in range(count):
        if block.alike[row] == row:
            begin = found
        p = begin
        while p < found and group[p] != block.group_of[row]:
            p += 1
        if p == found:
            group[p] = block.group_of[row]
            row_of[p] = row
            found += 1
        rows[p] += 1
    loses = np.empty(found, dtype=np.float64)
    spare = np.empty(found, dtype=np.int64)
    for p in range(found):
        loses[p] = block.cost[group[p]]
        spare[p] = max(min(rows[p], block.size[group[p]] - minimum), 0)
    nodes, lines = nodes_of(space, block, row_of[:found])
    return Parts(nodes, lines, rows[:found], loses, spare), row_of[:found]


@inner
def nodes_of(space: PointSpace, block: GroupBlock, rows: Ints) -> tuple[Codes, Ints]:
    """The nodes of rows, a line for each level of each axis, and each axis's first line."""
    axis, levels = space.tables.axis, space.tables.levels
    lines = np.zeros(len(axis), dtype=np.int64)
    for j in range(1, len(axis)):
        lines[j] = lines[j - 1] + axis[j - 1, HEIGHT]
    nodes = np.empty((lines[-1] + axis[-1, HEIGHT], len(rows)), dtype=np.int32)
    for j in range(len(axis)):
        for level in range(axis[j, HEIGHT]):
            base = axis[j, LEVELS] + level * axis[j, SIZE]
            for i in range(len(rows)):
                nodes[lines[j] + level, i] = levels[base + block.codes[rows[i], j]]
    return nodes, lines


@inner
def open_groups(
    space: PointSpace,
    pool_rules: PoolRules,
    block: GroupBlock,
    axes: Ints,
    heat: Floats,
    most_looks: int,
    stream: Stream,
) -> None:
    """Open boxes as groups, those first that promise most."""
    minimum = max(pool_rules.minimum, 1)
    parts, row_of = parts_of(space, block, minimum)
    room = PARTS_PER_ROW * len(block.codes)
    boxes = room_for_boxes(MOST_BOXES, room, len(axes), most_looks)
    find_boxes(space.tables, parts, axes, minimum, heat[LEAST], boxes)
    block.numbers[WORK] += boxes.numbers[LOOKS] // LOOKS_PER_WEIGHED
    open_boxes(space, pool_rules, block, boxes, row_of, heat[OPENING], stream)


@inner
def open_known(
    space: PointSpace,
    pool_rules: PoolRules,
    block: GroupBlock,
    rows: Ints,
    priced: PricedRows,
    heat: Floats,
    stream: Stream,
) -> None:
    """Open boxes that are known as groups, those first that promise most."""
    minimum = max(pool_rules.minimum, 1)
    boxes, row_of = choose_known_boxes(priced, block, rows, minimum, heat[LEAST])
    block.numbers[WORK] += boxes.numbers[LOOKS] // LOOKS_PER_WEIGHED
    open_boxes(space, pool_rules, block, boxes, row_of, heat[OPENING], stream)


@inner
def open_boxes(
    space: PointSpace,
    pool_rules: PoolRules,
    block: GroupBlock,
    boxes: CandidateBoxes,
    row_of: Ints,
    heat: float,
    stream: Stream,
) -> None:
    """Open one box after the other, as far as it gains."""
    block, boxes = borrow(block), borrow(boxes)
    count, minimum = len(block.codes), max(pool_rules.minimum, 1)
    inside = np.empty(count, dtype=np.int64)
    seen = np.zeros(count, dtype=np.int64)
    held = np.zeros(len(block.size), dtype=np.int64)
    promise = -boxes.gains[: boxes.numbers[FOUND]]
    turn = 0
    for box in np.argsort(promise, kind="mergesort"):
        turn += 1
        if block.numbers[WORK] > block.numbers[MOST_WORK]:
            return
        length = rows_in_box(block, boxes, box, row_of, inside, seen, turn)
        rows = inside[:length]
        cost = boxes.costs[box]
        allowed = allowance(heat, stream)
        if promising(block, rows, cost, minimum, allowed):
            open_box(space, pool_rules, block, rows, cost, held, seen, turn, allowed)
        block.numbers[WORK] += 1 + length // 4


@inner
def rows_in_box(
    block: GroupBlock,
    boxes: CandidateBoxes,
    box: int,
    row_of: Ints,
    inside: Ints,
    seen: Ints,
    turn: int,
) -> int:
    """List the rows that are like a part of the box; `seen` gets the turn at each."""
    length = 0
    for i in range(boxes.starts[box], boxes.starts[box + 1]):
        first = block.alike[row_of[boxes.parts[i]]]
        row = first
        while row < len(seen) and block.alike[row] == first and seen[row] != turn:
            seen[row] = turn
            inside[length] = row
            length += 1
            row += 1
    return length


@inner
def promising(
    block: GroupBlock, inside: Ints, cost: float, minimum: int, allowed: float
) -> bool:
    """Whether enough rows are in a box, and those that lose more elsewhere gain enough."""
    if len(inside) < minimum:
        return False
    gain = 0.0
    for row in inside:
        gain += max(block.cost[block.group_of[row]] - cost, 0.0)
    return gain + allowed > 0.0


@inner
def open_box(
    space: PointSpace,
    pool_rules: PoolRules,
    block: GroupBlock,
    inside: Ints,
    cost: float,
    held: Ints,
    seen: Ints,
    turn: int,
    allowed: float,
) -> bool:
    """Make a group of rows in a box, unless that loses more than allowed."""
    begin_change(block)
    minimum = max(pool_rules.minimum, 1)
    for row in inside:
        held[block.group_of[row]] = 0
    for row in inside:
        held[block.group_of[row]] += 1
        bar(block, block.group_of[row])
    opened = new_group(block)
    if opened == NO_GROUP:
        return False
    gather_gaining(block, inside, cost, held, opened, minimum)
    for row in inside:
        g = block.group_of[row]
        if held[g] > 0 and block.cost[g] > cost and g != opened:
            worth = held[g] * (block.cost[g] - cost) + allowed
            dissolve(space, block, g, worth, seen, turn, opened)
            held[g] = 0
    fill_up(block, inside, opened, minimum)
    enough = block.size[opened] >= minimum
    return settle(space, pool_rules, block, -allowed if enough else np.inf)


@inner
def new_group(block: GroupBlock) -> int:
    """Take the number of an empty group, or the next one."""
    if block.numbers[EMPTY] > 0:
        block.numbers[EMPTY] -= 1
        g = block.empty[block.numbers[EMPTY]]
    elif block.numbers[USED] < len(block.size):
        g = block.numbers[USED]
        block.numbers[USED] += 1
    else:
        return NO_GROUP
    touch(block, g)
    bar(block, g)
    return g


@inner
def gather_gaining(
    block: GroupBlock, inside: Ints, cost: float, held: Ints, opened: int, minimum: int
) -> None:
    """Move the rows that gain: whole groups, and as many as others can spare."""
    for row in inside:
        g = block.group_of[row]
        whole = held[g] == block.size[g]
        if block.cost[g] > cost and (whole or block.size[g] > minimum):
            held[g] -= 1
            move(block, row, opened)


@inner
def dissolve(
    space: PointSpace,
    block: GroupBlock,
    g: int,
    worth: float,
    seen: Ints,
    turn: int,
    opened: int,
) -> None:
    """Move the rows of group g into the box, and those outside it elsewhere.

    Nothing is moved if those outside would lose more than it is worth.
    """
    noted, cost = block.numbers[NOTED], block.cost[g]
    row = block.first[g]
    while row >= 0:
        following = block.after[row]
        if seen[row] != turn:
            other, joined = cheapest_group(space, block, row, cost + worth)
            if other == NO_GROUP:
                undo_moves(space, block, noted)
                return
            worth -= joined - cost
            move(block, row, other)
            stretch(space, block, other, row)
        row = following
    while block.first[g] >= 0:
        move(block, block.first[g], opened)


@inner
def fill_up(block: GroupBlock, inside: Ints, opened: int, minimum: int) -> None:
    """Move rows that larger groups can spare, the dearest first, up to the minimum."""
    needed = minimum - block.size[opened]
    if needed <= 0:
        return
    loses = np.empty(len(inside), dtype=np.float64)
    for i in range(len(inside)):
        loses[i] = -block.cost[block.group_of[inside[i]]]
    for i in np.argsort(loses, kind="mergesort"):
        g = block.group_of[inside[i]]
        if g != opened and block.size[g] > minimum:
            move(block, inside[i], opened)
            needed -= 1
            if needed == 0:
                return
