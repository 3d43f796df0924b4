"""Checks of a plan before it runs that need its arms, guests, links and instruments."""
