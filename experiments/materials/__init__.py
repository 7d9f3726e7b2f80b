"""Material files of researchers: decoded, parsed and checked before anything is stored."""
