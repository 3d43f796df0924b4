"""The command line: one file per command, registered in :data:`txop.cli.app.COMMANDS`."""
