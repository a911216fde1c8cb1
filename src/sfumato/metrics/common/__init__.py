"""What metrics share: both tables in codes, distributions, moments."""
