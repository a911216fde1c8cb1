"""Approximate targets for growing groups: see `kernels/refinement/regroup.py`."""

from __future__ import annotations

import math

import numpy as np

from sfumato.algorithms.common.compiled_rules import Compiled
from sfumato.data.rules import Distance, Rule, RuleKind, View
from sfumato.hierarchies.sensitive_axis import ground_distance
from sfumato.kernels.refinement.regroup import GrowthTargets


def make_growth_targets(compiled: Compiled) -> GrowthTargets:
    """Distinct values, excess and largest shares that the rules ask for, per view."""
    views = compiled.views
    # Rows of a part of the table may lack the last of the values it is compared with.
    known = max(map(len, compiled.references.values()), default=0)
    most_codes = max(int(compiled.codes.max(initial=0)) + 1, known)
    distinct = np.zeros(len(views), dtype=np.int64)
    excess = np.full(len(views), np.inf)
    reference = np.zeros((len(views), most_codes))
    most = np.full((len(views), most_codes), np.inf)
    trimmed = np.zeros(len(views), dtype=np.bool_)
    for v, view in enumerate(views):
        rules = [rule for rule in compiled.rules if rule.view == view]
        distinct[v] = max((_distinct(rule) for rule in rules), default=0)
        if not _plain(compiled, view):
            continue
        trimming = [rule for rule in rules if rule.traits.limits_common_values]
        trimmed[v] = bool(trimming)
        shares = compiled.references[view]
        if any(rule.traits.compares_shares for rule in trimming):
            reference[v, : len(shares)] = shares
        for rule in rules:
            if rule.kind == RuleKind.CLOSENESS:
                excess[v] = min(excess[v], _excess(compiled, rule))
            if rule.kind == RuleKind.SHARE:
                most[v] = np.minimum(most[v], rule.parameters[0])
            if rule.kind == RuleKind.LIKENESS:
                limit = shares * (1 + rule.parameters[0])
                most[v, : len(shares)] = np.minimum(most[v, : len(shares)], limit)
    asked = bool((distinct > 1).any() or np.isfinite(excess).any())
    return GrowthTargets(
        distinct=distinct,
        excess=excess,
        reference=reference,
        most=most,
        trimmed=trimmed,
        active=asked or bool(np.isfinite(most).any()),
    )


def _distinct(rule: Rule) -> int:
    if rule.kind == RuleKind.DISTINCT:
        return math.ceil(rule.parameters[0])
    if rule.kind == RuleKind.ENTROPY:
        return math.ceil(math.exp(rule.parameters[0]) - 1e-9)
    if rule.kind == RuleKind.RECURSIVE:
        return math.ceil(rule.parameters[1])
    return 0


def _excess(compiled: Compiled, rule: Rule) -> float:
    """Only where values are equally far apart is the excess the distance."""
    assert rule.view is not None
    asked = Distance(int(rule.parameters[1]))
    if ground_distance(compiled.axes[rule.view], asked) is not Distance.EQUAL:
        return math.inf
    return math.inf if rule.exempt_size > 0 else float(rule.parameters[0])


def _plain(compiled: Compiled, view: View) -> bool:
    """Whether codes of a view are values: no persons, no combinations."""
    return (
        view in compiled.references
        and view not in compiled.pairs
        and not view.others_known
    )
