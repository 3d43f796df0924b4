"""Which blocks of a driver a guest has reached: drivers built so that they count them, and the counts read."""
