"""Researchers' pages of recruitment: accounts, campaigns, submissions and payments."""
