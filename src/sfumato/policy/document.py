"""The policy document: load, change, write and query it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tomli_w
from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from sfumato import registry
from sfumato.data.safe_repr import counted
from sfumato.data.schema import Role
from sfumato.errors import PolicyError, UsageError
from sfumato.models.base import Model, OutputModel, ProcessModel
from sfumato.models.common.judged_columns import judged_columns
from sfumato.policy import consistency as checks
from sfumato.policy import edit as changes
from sfumato.policy.edit_text import edited as edited_text
from sfumato.policy.error_text import translated
from sfumato.policy.instantiate import PolicyModels, load_named, make_model, make_named
from sfumato.policy.keywords import document_of
from sfumato.policy.line_numbers import Key, Origin
from sfumato.policy.policy_fragment import policy_fragment
from sfumato.policy.redact import public_text, without_paths
from sfumato.policy.sections import (
    AlgorithmSection,
    ColumnSection,
    CompareSection,
    Data,
    Privacy,
    Publish,
    Report,
    Requirement,
    Section,
)

if TYPE_CHECKING:
    from sfumato.algorithms.base import Algorithm
    from sfumato.hierarchies.bands import Bands
    from sfumato.publish.base import Operator

_OPERATOR_OPTIONS = ("numbers", "flat")


class Policy(Section):
    """What is asked of a release: roles, requirements, algorithm and operator.

    Frozen; `with_setting` gives a changed copy. Two policies are equal if they ask for
    the same, wherever they were read from.

    Example:
        >>> policy = Policy.build(quasi=["age", "zip"], sensitive="illness", k=5)
        >>> policy.with_setting("require.0.k", 10).requirements()[0].k
        10
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: Literal[1] = 1
    """The version of the document's form."""
    unlisted: Literal["error", "keep", "drop"] = "error"
    """What happens to columns that are not named: `"error"` stops and names them,
    `"keep"` publishes them as insensitive, `"drop"` leaves them out."""
    data: Data = Data()
    """Where the table is, and how it is read."""
    columns: dict[str, ColumnSection] = Field(default_factory=dict)
    """What each column is and how it is treated, one table by name."""
    require: Annotated[tuple[Requirement, ...], Field(strict=False)] = ()
    """The privacy models that the release must meet, one table each."""
    algorithm: AlgorithmSection = AlgorithmSection()
    """The algorithm that groups rows, with its options."""
    publish: Publish = Publish()
    """How groups are shown, and what may be lost."""
    privacy: Privacy = Privacy()
    """What ties together all releases about the same people: a key, a budget."""
    report: Report = Report()
    """Optional parts of the report."""
    compare: CompareSection = CompareSection()
    """The candidates of `sfumato compare`; no effect on a release."""
    accept: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default_factory=dict
    )
    """The largest value of each figure that a candidate may have to be chosen; of
    figures where more is better, the smallest."""

    _origin: Origin = PrivateAttr(default_factory=Origin)
    _made: PolicyModels = PrivateAttr(default_factory=PolicyModels)

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_in_our_words(
        cls, data: Any, handler: ModelWrapValidatorHandler[Policy], info: ValidationInfo
    ) -> Policy:
        """Raise our own errors from `Policy(…)`; documents report more context."""
        try:
            return handler(data)
        except ValidationError as error:
            if info.context is not None:
                raise
            raise translated(error, Origin("Policy"), cls) from None

    def _summary(self) -> str:
        columns = counted(len(self.columns), "column")
        return f"{columns}, {counted(len(self.require), 'requirement')}"

    def _repr_html_(self) -> str:
        """The columns and requirements for a notebook: names and numbers only."""
        return policy_fragment(self)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file; relative paths in it start from its directory."""
        if not isinstance(path, str | Path):
            raise _no_text("path", path)
        place = Path(path)
        try:
            text = place.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise PolicyError(
                f"There is no policy file '{path}'.",
                hint="'sfumato init DATA -o policy.toml' proposes one.",
            ) from None
        except IsADirectoryError:
            raise PolicyError(
                f"'{path}' is a directory, not a policy file.",
                hint="Name a file in it.",
            ) from None
        except (OSError, ValueError):
            raise PolicyError(
                f"'{path}' cannot be read as UTF-8 text.",
                hint="A policy is a TOML file.",
            ) from None
        return cls.parse(text, source=f"'{path}'", base=place.parent)

    @classmethod
    def parse(
        cls, text: str, *, source: str = "the policy", base: Path | None = None
    ) -> Policy:
        """Read a policy from TOML text; `source` names it in errors."""
        if not isinstance(text, str):
            raise _no_text("text", text)
        origin = Origin(source, text, base)
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(
                f"{source} is not TOML: {error}.",
                hint="Texts need quotation marks; true and false are in lower case.",
            ) from None
        except RecursionError:
            raise _too_deep(source) from None
        except ValueError:
            raise PolicyError(
                f"{source} has a number of too many digits.",
                hint="No setting takes a number of thousands of digits.",
            ) from None
        return cls._validated(document, origin)

    @classmethod
    def build(cls, columns: Sequence[str] | None = None, **settings: Any) -> Policy:
        """Build a policy from keyword settings; see `keywords.document_of`."""
        try:
            document = document_of(columns, settings)
        except RecursionError:
            raise _too_deep("the settings") from None
        return cls._validated(document, Origin("the settings"))

    @classmethod
    def _validated(cls, document: Mapping[str, Any], origin: Origin) -> Policy:
        giant = checks.giant_in(document)
        if giant is not None:
            raise origin.fault(
                giant,
                "is a whole number of more than 64 bits.",
                hint="No setting takes so large a number.",
            )
        try:
            policy = cls.model_validate(dict(document), context=origin)
        except ValidationError as error:
            raise translated(error, origin, cls) from None
        policy._origin = origin
        checks.check_place_of_data(policy.data, policy.fault)
        checks.check_columns_alone(policy.columns, policy.fault)
        policy._check_names()
        checks.check_bands(policy.columns, policy.requirements(), policy.fault)
        return policy

    def _check_names(self) -> None:
        """Refuse names that the catalogue does not have, before any table is read.

        Options of the algorithm are checked when it is made, because that loads
        compiled code.
        """
        self.requirements()
        if self.publish.settings:
            self.operator_instance()
        name = self.algorithm.name
        if name is not None and name not in registry.names("algorithms"):
            table = {"name": name}
            load_named(table, "name", "algorithms", ("algorithm",), origin=self._origin)

    @property
    def base(self) -> Path | None:
        """Return the directory that relative paths start from."""
        return self._origin.base

    def fault(self, key: Key, what: str, *, hint: str | None = None) -> PolicyError:
        """Build an error about a key of this policy, with its line where known."""
        return self._origin.fault(key, what, hint=hint)

    def column(self, name: str) -> ColumnSection:
        """Return the settings of a column; the defaults if there are none."""
        return self.columns.get(name, ColumnSection())

    def role(self, name: str) -> Role | None:
        """Return the role of a column of the data; None if it is dropped."""
        section = self.columns.get(name)
        if section is None:
            return None if self.unlisted == "drop" else Role.INSENSITIVE
        return None if section.drop else section.role

    def bands(self, name: str) -> Bands | None:
        """Return how a published column is coded first; None if its cells stay."""
        return None if self.role(name) is None else self.column(name).coding

    def banded(self) -> frozenset[str]:
        """Return the columns whose numbers or dates are published in bands."""
        return frozenset(name for name in self.columns if self.bands(name) is not None)

    def names(self, *roles: Role) -> tuple[str, ...]:
        """Return the columns of the policy that have one of these roles."""
        return tuple(
            name
            for name, section in self.columns.items()
            if section.role in roles and not section.drop
        )

    def withheld(self) -> frozenset[str]:
        """Return the columns that must not be published: identifiers and dropped."""
        hashed = self.pseudonymized()
        return frozenset(
            name
            for name, section in self.columns.items()
            if section.drop or (section.role is Role.IDENTIFIER and name not in hashed)
        )

    def published(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of the data's columns of which a release shows cells."""
        hidden = (None, Role.IDENTIFIER, Role.SUBJECT)
        hashed = self.pseudonymized()
        return frozenset(n for n in names if n in hashed or self.role(n) not in hidden)

    def pseudonymized(self) -> frozenset[str]:
        """The columns that are published under a keyed hash."""
        return frozenset(n for n, s in self.columns.items() if s.pseudonymize)

    def models(self) -> tuple[OutputModel, ...]:
        """Return, as models, the requirements that a published table can show."""
        return tuple(m for m in self.requirements() if isinstance(m, OutputModel))

    @property
    def judged(self) -> tuple[str, ...]:
        """The sensitive columns that a requirement is about."""
        return judged_columns(self.models(), self.names(Role.SENSITIVE))

    def process_models(self) -> tuple[ProcessModel, ...]:
        """Return, as models, the requirements that only the process can meet."""
        return tuple(m for m in self.requirements() if isinstance(m, ProcessModel))

    def requirements(self) -> tuple[Model, ...]:
        """Return all requirements as models, in the order of the policy; made once."""
        # A copy with other requirements still carries the models of the old ones.
        if self._made.sections is not self.require:
            self._made = PolicyModels(self.require, tuple(self._make_models()))
        return self._made.models

    def _make_models(self) -> Iterator[Model]:
        for place, wanted in enumerate(self.require):
            key = ("require", place)
            yield make_model(wanted.model_dump(), key, origin=self._origin)

    def algorithm_instance(self) -> Algorithm:
        """The algorithm with its options."""
        table = {"name": self.algorithm.name or registry.DEFAULT_ALGORITHM}
        made: Algorithm = make_named(
            table | self.algorithm.settings,
            "name",
            "algorithms",
            ("algorithm",),
            origin=self._origin,
        )
        return made

    def operator_instance(self) -> Operator:
        """The publication operator with its options."""
        made: Operator = make_named(
            {"operator": self.publish.operator, **self._options()},
            "operator",
            "operators",
            ("publish",),
            origin=self._origin,
        )
        return made

    def _options(self) -> dict[str, Any]:
        """Return the operator's options that `publish` sets."""
        common = {name: getattr(self.publish, name) for name in _OPERATOR_OPTIONS}
        said = {name: value for name, value in common.items() if value is not None}
        return said | self.publish.settings

    def check_columns(self, names: Sequence[str]) -> None:
        """Check the policy against the columns of a table."""
        checks.check_columns(self, names, self.requirements())

    def with_setting(self, key: str, value: Any) -> Policy:
        """Return a copy with one setting changed, such as `require.0.k`.

        A text is read as a TOML value if it is one, and as plain text otherwise.
        """
        return self.with_settings({key: value})

    def with_settings(self, settings: Mapping[str, Any]) -> Policy:
        """Return a copy with several settings changed, checked once at the end."""
        if not isinstance(settings, Mapping):
            raise UsageError(
                f"settings is a dict, not a value of type {type(settings).__name__}.",
                hint="For example {'require.0.k': 10}.",
            )
        document = self._document()
        for key, value in settings.items():
            document = changes.changed(document, key, value)
        return type(self)._validated(document, Origin("the settings", "", self.base))

    def edited(self, settings: Mapping[str, Any]) -> str:
        """Write the policy with settings changed, as the text it was read from.

        Values are taken as they are; None takes a setting away. Comments and layout are
        kept, unless the text is laid out so that a setting cannot be changed in its
        place: then it is as from `dump`.
        """
        changed = self.with_settings(
            {k: json.dumps(v) if isinstance(v, str) else v for k, v in settings.items()}
        )
        places = {_place(key): value for key, value in settings.items()}
        text = edited_text(self._origin.text, places) if self._origin.text else ""
        try:
            kept = type(self).parse(text)._document() == changed._document()
        except PolicyError:
            kept = False
        return text if kept else changed.dump()

    def dump(self) -> str:
        """Write the policy as TOML text, without settings that have their default."""
        return tomli_w.dumps(self._document())

    def _document(self) -> dict[str, Any]:
        written = self.model_dump(mode="json", exclude_defaults=True)
        return {"version": self.version, **changes.without_nothing(written)}

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema of the document, for editors."""
        return cls.model_json_schema()

    def public_dict(self) -> dict[str, Any]:
        """Return the publishable part of the policy: no paths, no values of columns."""
        return without_paths(self._document())

    def sha256(self) -> str:
        """The hash of the publishable policy, which anybody can recompute."""
        return hashlib.sha256(public_text(self.public_dict()).encode()).hexdigest()


def _place(key: str) -> Key:
    """A setting as its path: `require.0.k` is ("require", 0, "k")."""
    parts = changes.parts_of(key)
    numbered = parts[0] == "require"
    return tuple(int(p) if numbered and p.isdigit() else p for p in parts)


def _too_deep(source: str) -> PolicyError:
    verb = "are" if source == "the settings" else "is"
    return PolicyError(
        f"{source} {verb} nested too deeply.",
        hint="A policy has tables in tables, and not many of them.",
    )


def _no_text(name: str, value: object) -> UsageError:
    return UsageError(
        f"{name} is a text, not a value of type {type(value).__name__}.",
        hint="Policy.load takes the path of a file, Policy.parse takes TOML.",
    )
