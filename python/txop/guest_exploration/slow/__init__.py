"""Valid traffic and fault scripts that make a driver slow, found by mutation: what costs more than usual traffic."""
