"""Groups of participants: whether effects and items are the same for each of them."""
