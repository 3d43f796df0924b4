"""The archive of a campaign: a folder that stays readable whatever happens to the process that writes it."""
