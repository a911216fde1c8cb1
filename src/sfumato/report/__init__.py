"""What a release says about itself: facts, and the page and the JSON made of them."""
