"""What is judged of a plan before it runs: what needs arms, guests, links and instruments to be known."""
