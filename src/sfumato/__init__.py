"""Sfumato: publish personal data safely."""
