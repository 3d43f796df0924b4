"""``python -m txop``: the same program as ``txop``."""

from txop.cli.entry import main

if __name__ == "__main__":
    main()
