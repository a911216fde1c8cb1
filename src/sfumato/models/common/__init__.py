"""What models share: groups, distances, measures, feasibility."""
