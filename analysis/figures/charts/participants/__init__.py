"""Figures of participants: agreement, conduct, flow, sensitivity and response times."""
