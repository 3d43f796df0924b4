"""A verdict for a patch series: built, run in exact guests against its base, and written as a mail."""
