"""Agreement of judgments with the expected labels: reports, inclusion rules and interim looks."""
