"""Campaigns: a plan carried out run by run, so that whatever interrupts it costs at most the run it interrupted."""
