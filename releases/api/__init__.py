"""The concluding side over REST."""
