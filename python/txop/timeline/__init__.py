"""One run of an exact guest on one clock: packets followed through kernel, bus and air, and where their time went."""
