"""Accounts of researchers: sign-in, login sessions and their history."""
