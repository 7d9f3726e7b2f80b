"""Are the sentences of one condition better than those of another, and by how much?"""
