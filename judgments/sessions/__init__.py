"""Sessions of participants: arrival, enrollment, navigation, recording, completion, expiry and removal."""
