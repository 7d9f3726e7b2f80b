"""Pages of teams: members of a study, labs, invitations."""
