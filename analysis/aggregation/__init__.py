"""From judgments to one number per item: shares, means and their intervals."""
