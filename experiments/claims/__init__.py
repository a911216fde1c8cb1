"""Every published result that this project looks at, in our own words."""
