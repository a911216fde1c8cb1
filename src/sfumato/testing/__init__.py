"""Public conformance checks: awkward tables, strategies, oracles, checks.

A plug-in author runs the same checks as the catalogue's own entries:

    import pytest
    from sfumato.testing.checks import check_algorithm

    @pytest.mark.parametrize("check", check_algorithm(MyAlgorithm), ids=str)
    def test_it_conforms(check):
        check()
"""
