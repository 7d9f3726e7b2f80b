"""Amazon Mechanical Turk: its client, the adapter, and the pages that workers see in a frame."""
