"""Permissions: roles in studies and labs, their members, invitations and links for reviewers."""
