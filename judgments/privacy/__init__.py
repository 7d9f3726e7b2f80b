"""Personal data: deletion at a date, one person's data on request, keys, and the record of processing."""
