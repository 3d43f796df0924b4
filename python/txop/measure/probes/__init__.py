"""What is recorded beside the traffic. A probe is one module: it takes what a target gives, and reports the rest."""
