"""Quality signals: flags with a reason, for review. No signal rejects or excludes participants."""
