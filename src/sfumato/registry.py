"""The catalogue: one line per algorithm, model, operator and metric, loaded on demand.

Plug-ins register under the entry point groups `sfumato.models`,
`sfumato.algorithms`, `sfumato.operators`, `sfumato.metrics` and `sfumato.attacks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from sfumato.errors import PolicyError

CATALOGUE = {
    "models": {
        "k-anonymity": "sfumato.models.k_anonymity:KAnonymity",
        "k-map": "sfumato.models.k_map:KMap",
        "average-risk": "sfumato.models.average_risk:AverageRisk",
        "uniqueness": "sfumato.models.uniqueness:Uniqueness",
        "group-size": "sfumato.models.group_size:GroupSize",
        "l-diversity": "sfumato.models.l_diversity:LDiversity",
        "p-sensitive": "sfumato.models.p_sensitive:PSensitive",
        "alpha-k": "sfumato.models.alpha_k:AlphaK",
        "theta-diversity": "sfumato.models.theta_diversity:ThetaDiversity",
        "t-closeness": "sfumato.models.t_closeness:TCloseness",
        "n-t-closeness": "sfumato.models.n_t_closeness:NTCloseness",
        "beta-likeness": "sfumato.models.beta_likeness:BetaLikeness",
        "delta-disclosure": "sfumato.models.delta_disclosure:DeltaDisclosure",
        "delta-presence": "sfumato.models.delta_presence:DeltaPresence",
        "range-disclosure": "sfumato.models.range_disclosure:RangeDisclosure",
        "lkc": "sfumato.models.lkc:Lkc",
        "diversity": "sfumato.models.diversity:Diversity",
        "differential-privacy": (
            "sfumato.models.differential_privacy:DifferentialPrivacy"
        ),
    },
    "algorithms": {
        "mondrian": "sfumato.algorithms.partition.mondrian:Mondrian",
        "datafly": "sfumato.algorithms.full_domain.datafly:Datafly",
        "incognito": "sfumato.algorithms.full_domain.incognito:Incognito",
        "optimal": "sfumato.algorithms.full_domain.optimal:Optimal",
        "local-optimal": "sfumato.algorithms.full_domain.local_optimal:LocalOptimal",
        "top-down": "sfumato.algorithms.partition.top_down:TopDown",
        "bottom-up": "sfumato.algorithms.partition.bottom_up:BottomUp",
        "simulatable": "sfumato.algorithms.partition.simulatable:Simulatable",
        "blind": "sfumato.algorithms.partition.blind:Blind",
        "dp-anonym": "sfumato.algorithms.private.dp_anonym:DpAnonym",
        "safepub": "sfumato.algorithms.private.safepub:SafePub",
        "dp-synthesis": "sfumato.algorithms.private.dp_synthesis:DpSynthesis",
        "klt": "sfumato.algorithms.clustering.klt:Klt",
        "k-member": "sfumato.algorithms.clustering.k_member:KMember",
        "k-member-p": "sfumato.algorithms.clustering.k_member_p:KMemberP",
        "oka": "sfumato.algorithms.clustering.oka:Oka",
        "tgc": "sfumato.algorithms.clustering.tgc:Tgc",
        "mdav": "sfumato.algorithms.clustering.mdav:Mdav",
        "diva": "sfumato.algorithms.diva.diva:Diva",
        "harvest": "sfumato.algorithms.best.harvest:Harvest",
        "best": "sfumato.algorithms.best.best:Best",
    },
    "operators": {
        "generalize": "sfumato.publish.generalize:Generalize",
        "suppress": "sfumato.publish.suppress:Suppress",
        "swap": "sfumato.publish.swap:Swap",
        "anatomize": "sfumato.publish.anatomize:Anatomize",
        "microaggregate": "sfumato.publish.microaggregate:Microaggregate",
    },
    "metrics": {
        "ncp": "sfumato.metrics.ncp:Ncp",
        "generalized_loss": "sfumato.metrics.generalized_loss:GeneralizedLoss",
        "discernibility": "sfumato.metrics.discernibility:Discernibility",
        "average_class_size": "sfumato.metrics.average_class_size:AverageClassSize",
        "suppressed_share": "sfumato.metrics.suppressed_share:SuppressedShare",
        "precision": "sfumato.metrics.precision:Precision",
        "non_uniform_entropy": "sfumato.metrics.non_uniform_entropy:NonUniformEntropy",
        "kl_divergence": "sfumato.metrics.kl_divergence:KlDivergence",
        "kl_divergence_of_pairs": (
            "sfumato.metrics.kl_divergence_of_pairs:KlDivergenceOfPairs"
        ),
        "classification_metric": (
            "sfumato.metrics.classification_metric:ClassificationMetric"
        ),
        "q_diversity": "sfumato.metrics.q_diversity:QDiversity",
        "squared_error": "sfumato.metrics.squared_error:SquaredError",
        "mean_shift": "sfumato.metrics.mean_shift:MeanShift",
        "variance_shift": "sfumato.metrics.variance_shift:VarianceShift",
        "correlation_shift": "sfumato.metrics.correlation_shift:CorrelationShift",
        "suppressed_cells": "sfumato.metrics.suppressed_cells:SuppressedCells",
        "suppressed_people": "sfumato.metrics.suppressed_people:SuppressedPeople",
        "false_cells": "sfumato.metrics.false_cells:FalseCells",
    },
    "attacks": {
        "linkage": "sfumato.risk.attacks.linkage:Linkage",
        "distance-linkage": "sfumato.risk.attacks.distance_linkage:DistanceLinkage",
        "singling-out": "sfumato.risk.attacks.singling_out:SinglingOut",
        "guess": "sfumato.risk.attacks.guess:GroupGuess",
        "homogeneity": "sfumato.risk.attacks.homogeneity:Homogeneity",
        "background-knowledge": "sfumato.risk.attacks.background:BackgroundKnowledge",
        "skewness": "sfumato.risk.attacks.skewness:Skewness",
        "similarity": "sfumato.risk.attacks.similarity:Similarity",
        "range": "sfumato.risk.attacks.range_attack:Range",
        "row-order": "sfumato.risk.attacks.row_order:RowOrder",
        "complementary-release": (
            "sfumato.risk.attacks.complementary:ComplementaryRelease"
        ),
        "minimality": "sfumato.risk.attacks.minimality:Minimality",
        "membership": "sfumato.risk.attacks.membership:Membership",
        "inference": "sfumato.risk.attacks.inference:LearnedInference",
        "identity": "sfumato.risk.attacks.identity:Identity",
        "definetti": "sfumato.risk.attacks.definetti:DeFinetti",
        "swap-reconstruction": (
            "sfumato.risk.attacks.swap_reconstruction:SwapReconstruction"
        ),
    },
}
DEFAULT_ALGORITHM = "best"
KINDS = tuple(CATALOGUE)


@dataclass(frozen=True)
class CatalogueEntry:
    """A line of the catalogue, with what `sfumato list` prints."""

    kind: str
    name: str
    sentence: str
    blind_spot: str | None = None


def names(kind: str) -> tuple[str, ...]:
    """Return the names of everything of a kind: ours first, then plug-ins."""
    ours = CATALOGUE[kind]
    return (*ours, *(name for name in _plugins(kind) if name not in ours))


def load(kind: str, name: str) -> Any:
    """Load the class behind a name."""
    target = CATALOGUE[kind].get(name) or _plugins(kind).get(name)
    if target is None:
        raise PolicyError(
            f"There is no {kind.removesuffix('s')} '{name}'.", hint=_advice(kind, name)
        )
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def algorithm(name: str) -> Any:
    """Load the class of this algorithm."""
    return load("algorithms", name)


def catalogue(kind: str | None = None) -> Iterator[CatalogueEntry]:
    """Return every line of the catalogue, or of one kind."""
    for each in KINDS if kind is None else (kind,):
        for name in names(each):
            thing = load(each, name)
            yield CatalogueEntry(
                each, name, thing.sentence, getattr(thing, "blind_spot", None)
            )


def _plugins(kind: str) -> dict[str, str]:
    found = _entry_points().select(group=f"sfumato.{kind}")
    return {point.name: point.value for point in found}


@cache
def _entry_points() -> Any:
    """Return all installed entry points; listing them takes a while."""
    return entry_points()


def _advice(kind: str, name: str) -> str:
    close = get_close_matches(name, names(kind), n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"'sfumato list {kind}' names them all."
