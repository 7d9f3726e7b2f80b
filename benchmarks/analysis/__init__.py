"""Statistics on files and in the database: agreement, mixed models, intervals, figures."""
