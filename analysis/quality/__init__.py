"""Quality signals: flags with a plain reason for people to look at. No signal rejects or excludes anybody."""
