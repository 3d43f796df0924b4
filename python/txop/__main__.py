"""``python -m txop``: the same program as ``txop``."""

from txop.cli.app import main

if __name__ == "__main__":
    main()
