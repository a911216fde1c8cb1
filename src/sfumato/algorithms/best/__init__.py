"""The default: several searches, and the release that loses least."""
