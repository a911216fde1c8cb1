"""The facts about a release, and the page and JSON made from them."""
