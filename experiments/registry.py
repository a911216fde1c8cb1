"""All experiments by name. A new one: a module with `run`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from experiments.results import Result, Scale


@dataclass(frozen=True)
class Experiment:
    """A function `run(scale, name)` of a module of this package."""

    module: str
    alone: bool = False
    """Whether it measures time by the clock, and nothing may run beside it."""

    def run(self, name: str, scale: Scale) -> Result:
        """Run it, importing what it needs only now."""
        module = import_module(f"experiments.{self.module}")
        function: Callable[[Scale, str], Result] = module.run
        return function(scale, name)


EXPERIMENTS = {
    "boger-examples": Experiment("boger_examples"),
    "boger-figure-5": Experiment("boger_runtime"),
    "boger-figure-8": Experiment("boger_weights"),
    "boger-figure-9": Experiment("boger_weights"),
    "boger-figure-10": Experiment("boger_weights"),
    "boger-figure-11": Experiment("boger_weights"),
    "boger-figure-12": Experiment("boger_weights"),
    "boger-low-selectivity": Experiment("boger_weights"),
    "boger-tuned-weights": Experiment("boger_tuned"),
    "boger-advice": Experiment("boger_advice"),
    "kuksina-tables": Experiment("kuksina_tables"),
    "kuksina-data": Experiment("kuksina_data"),
    "kuksina-figure-8.11": Experiment("kuksina_utility"),
    "kuksina-datafly": Experiment("kuksina_datafly"),
    "kuksina-figure-8.12": Experiment("kuksina_utility"),
    "kuksina-leaps": Experiment("kuksina_leaps"),
    "kuksina-figure-8.13": Experiment("kuksina_utility"),
    "kuksina-figure-8.14": Experiment("kuksina_utility"),
    "kuksina-figure-8.15": Experiment("kuksina_epsilon"),
    "kuksina-figure-8.16": Experiment("kuksina_epsilon"),
    "kuksina-depth": Experiment("kuksina_depth"),
    "kuksina-figure-8.17": Experiment("kuksina_queries"),
    "kuksina-figure-8.18": Experiment("kuksina_queries"),
    "kuksina-time": Experiment("kuksina_time"),
    "kuksina-fallback": Experiment("kuksina_fallback"),
    "slides-walk": Experiment("slides_walk"),
    "slides-learning": Experiment("slides_learning"),
    "diva-example": Experiment("diva_example"),
    "diva-figure-4ab": Experiment("diva_figures"),
    "diva-figure-4c": Experiment("diva_figures"),
    "diva-figure-4d": Experiment("diva_figures"),
    "diva-figure-5ab": Experiment("diva_figures"),
    "diva-figure-5cd": Experiment("diva_figures"),
    "diva-strategies": Experiment("diva_strategies"),
    "diva-parallel": Experiment("diva_future", alone=True),
    "diva-private": Experiment("diva_private"),
    "tgc-tables": Experiment("tgc_tables"),
    "tgc-figure-5": Experiment("tgc_parameters"),
    "tgc-figure-6": Experiment("tgc_quality"),
    "tgc-figure-8": Experiment("tgc_queries"),
    "tgc-figure-9": Experiment("tgc_queries"),
    "tgc-figure-11": Experiment("tgc_diversity"),
    "tgc-figure-13": Experiment("tgc_quality"),
    "tgc-figure-15": Experiment("tgc_parameters"),
    "tgc-figure-16": Experiment("tgc_parameters"),
    "tgc-figure-17": Experiment("tgc_parameters"),
    "tgc-figure-18": Experiment("tgc_parameters"),
    "tgc-figure-19": Experiment("tgc_parameters"),
    "tgc-figure-20": Experiment("tgc_parameters"),
    "tgc-readings": Experiment("tgc_readings"),
    "tgc-front": Experiment("tgc_front"),
    "tgc-task": Experiment("tgc_front"),
}
