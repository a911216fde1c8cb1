"""The policy: a typed document that says what is asked of a release."""

from sfumato.policy.document import Policy

__all__ = ["Policy"]
