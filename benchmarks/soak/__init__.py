"""`make soak`: kill everything that runs, break the network, and count what people were promised."""
