"""The plots of a campaign, each a function from figures or runs to a drawing."""
