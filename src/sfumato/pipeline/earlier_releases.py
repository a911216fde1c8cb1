"""Read earlier releases of the same people, and what they promised."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import registry
from sfumato.data.arrays import Codes
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Role
from sfumato.errors import DataError, PolicyError, RefusedError
from sfumato.io.csv_grammar import line_breaks
from sfumato.io.formats import Format, format_of
from sfumato.io.read import read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.io.write import hash_bytes
from sfumato.models.base import OutputModel, ReferenceModel, SensitiveModel
from sfumato.models.k_anonymity import KAnonymity
from sfumato.pipeline.column_kinds import from_manifest
from sfumato.pipeline.expand_requirements import smallest_group
from sfumato.pipeline.linked_persons import LINKED, PERSON, LinkedPersons, PersonHashes
from sfumato.pipeline.private_record import read_private
from sfumato.pipeline.run import Run
from sfumato.pipeline.source_types import with_source_types
from sfumato.pipeline.verification import Claim, Private
from sfumato.policy import Policy
from sfumato.policy.instantiate import make_model
from sfumato.policy.sections import ColumnSection
from sfumato.publish.base import Form
from sfumato.risk.intersection import Judged, ReleaseRows

HINT = "Name the directory of a release, with its private part."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EarlierRelease(SafeRepr):
    """A release of the same people that was published before."""

    data_sha256: str
    table: pa.Table
    manifest: Mapping[str, Any]
    audit: Path
    private: Private
    persons: PersonHashes
    """The person behind each published row."""

    def _summary(self) -> str:
        return counted(self.table.num_rows, "row")

    def judged(
        self, models: Sequence[OutputModel], policy: Policy, base: Path | None
    ) -> Judged:
        """Its rows, to be judged by the models of a new policy.

        Sensitive columns without a requirement in the new policy keep their own
        promises. Persons get their numbers later (`numbered`).
        """
        own = self._policy(policy)
        claim = Claim(
            policy=own,
            models=(),
            base=base,
            private=replace(
                self.private, subject=np.zeros(self.table.num_rows, dtype=np.int32)
            ),
            decided=from_manifest(self.audit),
        )
        evidence = claim.evidence(self.table)
        names, known = own.names(Role.SENSITIVE), self.private.source_values
        left = tuple(name for name in names if not _judges(models, name))
        asked = [_fitted(model, names, known) for model in asked_of_people(models)]
        asked += [_fitted(model, left, known) for model in self._promises()]
        return Judged(
            evidence=evidence,
            models=tuple(model for model in asked if model is not None),
            members=ReleaseRows.shown_by(evidence),
        )

    @property
    def _declared(self) -> Mapping[str, Mapping[str, Any]]:
        """What its own policy says of its columns."""
        found: Mapping[str, Mapping[str, Any]] = self.manifest["policy"]["columns"]
        return {n: c for n, c in found.items() if not c.get("drop")}

    def _policy(self, policy: Policy) -> Policy:
        """Its roles; hierarchies of sensitive columns are those of the new policy."""
        sensitive = set(policy.names(Role.SENSITIVE))
        columns = {}
        for name, said in self._declared.items():
            role = said.get("role")
            if role == Role.SENSITIVE and name in sensitive:
                columns[name] = policy.columns[name]
            elif role in (Role.QUASI, Role.SENSITIVE):
                columns[name] = ColumnSection(role=Role(role))
        marks = self.manifest["policy"].get("data", {}).get("missing")
        data = policy.data.model_copy(
            update={
                "missing_as": "value",
                "missing": policy.data.missing if marks is None else tuple(marks),
            }
        )
        return policy.model_copy(update={"columns": columns, "data": data})

    def _promises(self) -> Iterator[SensitiveModel]:
        """Return its promises about sensitive values that candidates can show."""
        for record in self.manifest["requirements"]:
            try:
                model = make_model({"model": record["model"], **record["parameters"]})
            except PolicyError:
                # A population is a file that the manifest does not name.
                continue
            if isinstance(model, SensitiveModel) and model.judges_each_group:
                yield model


def asked_of_people(models: Sequence[OutputModel]) -> tuple[OutputModel, ...]:
    """Return the requirements on candidates, with k counted in people."""
    k = smallest_group(models)
    if k == 1 or any(model.name == KAnonymity.name for model in models):
        return tuple(models)
    return (KAnonymity(k=k), *models)


def numbered(judged: Judged, person: Codes) -> Judged:
    """A release with the number of the person behind each row."""
    evidence = replace(judged.evidence, subject=person)
    members = ReleaseRows(person, judged.members.group)
    return replace(judged, evidence=evidence, members=members)


def refuse_after(run: Run) -> None:
    """Refuse, before any work, what cannot be promised with earlier releases."""
    if not run.after:
        return
    if run.policy.privacy.link_key is None:
        raise RefusedError(
            "Earlier releases are given, and nothing says who is the same person.",
            hint="Set privacy.link_key to the key file that they were made with.",
        )
    if run.policy.process_models():
        raise RefusedError(
            f"{run.policy.process_models()[0].name} is not judged on groups of people.",
            hint="Charge all such releases to one ledger: set privacy.ledger.",
        )
    for model in run.policy.models():
        if not model.judges_each_group:
            raise RefusedError(
                f"{model.name} is not defined for the candidates that several releases "
                "leave.",
                hint="Require models that judge one group at a time, such as "
                "k-anonymity and l-diversity.",
            )
    if run.operator.form is not Form.CELLS:
        raise _other_form(run.operator.name)
    if run.policy.data.missing_as == "any":
        raise RefusedError(
            'Earlier releases and missing_as = "any" cannot be combined.',
            hint='Set data.missing_as to "value" or "drop".',
        )


def _other_form(operator: str) -> RefusedError:
    return RefusedError(
        f"What '{operator}' publishes does not show whose value is whose: it cannot be "
        "intersected with other releases.",
        hint="Publish by 'generalize', 'suppress' or 'microaggregate'.",
    )


def read_earlier(run: Run, persons: LinkedPersons) -> tuple[EarlierRelease, ...]:
    """Read the earlier releases that a run names, and check that they are unchanged."""
    found = tuple(_release(place, persons) for place in run.after)
    hashes = [each.data_sha256 for each in found]
    for place, each in zip(run.after, found, strict=True):
        lacking = set(earlier_hashes(each.manifest)).difference(hashes)
        if lacking:
            raise DataError(
                f"'{place}' was made after {counted(len(lacking), 'release')} that "
                "you do not give.",
                hint="Name all earlier releases with --after; its manifest has their "
                "hashes.",
            )
    _refuse_strangers(found, persons)
    return found


def earlier_hashes(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The hashes of the releases that a release was made after."""
    return tuple(manifest.get("after", {}).get("releases", ()))


def _refuse_strangers(found: Sequence[EarlierRelease], persons: LinkedPersons) -> None:
    """Refuse releases that share nobody with this table: likely a linking mistake."""
    for each in found:
        if not np.isin(each.persons, persons.hashes).any():
            raise DataError(
                "An earlier release has nobody in common with this table.",
                hint="Check that identifiers are spelled alike, or leave that release "
                "out: other people do not matter.",
            )


def _release(place: Path, persons: LinkedPersons) -> EarlierRelease:
    manifest = _manifest(place / "manifest.json")
    if "privacy" in manifest:
        raise RefusedError(
            f"'{place}' was made under a process model; its groups say nothing.",
            hint="The ledger composes such releases. Leave it out here.",
        )
    form = registry.load("operators", manifest["operator"]["name"]).form
    if form is not Form.CELLS:
        raise _other_form(manifest["operator"]["name"])
    table = _data(place, manifest)
    record = place / "private" / "rows.parquet"
    private = read_private(record, table, swapped=False)
    return EarlierRelease(
        data_sha256=manifest["data_sha256"],
        table=table,
        manifest=manifest,
        audit=place / "private" / "audit.json",
        private=private,
        persons=_persons(record, persons),
    )


def _manifest(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        known = found["operator"]["name"], found["policy"]["columns"]
    except OSError as fault:
        raise DataError(
            f"'{place}' cannot be read: {fault.strerror}.", hint=HINT
        ) from None
    except (ValueError, KeyError, TypeError):
        known = None
    whole = ("data_sha256", "requirements")
    if known is None or any(key not in found for key in whole):
        raise DataError(f"'{place}' is not the manifest of a release.", hint=HINT)
    return dict(found)


def _data(place: Path, manifest: Mapping[str, Any]) -> pa.Table:
    """Read the published table, and check that it is the one of its manifest."""
    files = sorted(place.glob("data.*"))
    if len(files) != 1:
        raise DataError(f"'{place}' has {len(files):,} files named 'data'.", hint=HINT)
    hashes: list[str] = []
    table = read_source(
        files[0],
        seen=lambda content: hashes.append(hash_bytes(content)),
        named=True,
        breaks=line_breaks(multiline=bool(manifest.get("multiline"))),
    )
    if hashes[0] != manifest["data_sha256"]:
        raise DataError(
            f"'{files[0]}' is not what its manifest says: it was changed.",
            hint="Give the release as it was published.",
        )
    marked = manifest.get("spreadsheet_safe") and format_of(files[0]) is Format.CSV
    return with_source_types(unguarded(table) if marked else table, manifest)


def _persons(place: Path, persons: LinkedPersons) -> PersonHashes:
    """The person behind each published row, in their order."""
    record = read_source(place, format="parquet")
    told = (record.schema.metadata or {}).get(LINKED)
    if told is None or PERSON not in record.column_names:
        raise DataError(
            f"'{place}' does not say who is who: the release was made without a key.",
            hint="Set privacy.link_key before the first release that others follow.",
        )
    origin = json.loads(told)
    if origin["key"] != persons.key_id:
        raise DataError(
            f"'{place}' was made with another key than privacy.link_key names.",
            hint="All releases of the same people need one key.",
        )
    if tuple(origin["columns"]) != persons.columns:
        raise DataError(
            f"'{place}' tells persons apart by {len(origin['columns']):,} columns that "
            "are not those of this policy.",
            hint="Give the same columns the role 'subject', or 'identifier'.",
        )
    kept = record.filter(record["published_row"].is_valid()).sort_by("published_row")
    return np.array(kept[PERSON].to_pylist(), dtype=persons.hashes.dtype)


def _judges(models: Sequence[OutputModel], name: str) -> bool:
    """Whether some model judges a sensitive column."""
    judging = (model for model in models if isinstance(model, SensitiveModel))
    return any(model.on is None or name in _columns(model) for model in judging)


def _columns(model: SensitiveModel) -> tuple[str, ...]:
    """The columns that a model names."""
    return (model.on,) if isinstance(model.on, str) else model.on or ()


def _fitted(
    model: OutputModel, sensitive: Sequence[str], known: Mapping[str, Any]
) -> OutputModel | None:
    """A model on the columns that a release has; None if it has none of them."""
    if not isinstance(model, SensitiveModel):
        return model
    names = tuple(n for n in sensitive if model.on is None or n in _columns(model))
    if not names:
        return None
    fitted = replace(model, on=names)
    if isinstance(fitted, ReferenceModel) and any(name not in known for name in names):
        # The values of its source were never counted, so compare with its published
        # rows.
        fitted = replace(fitted, reference="published")
    return fitted
