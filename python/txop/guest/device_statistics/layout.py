"""The name and the layout version of the document.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

FORMAT = "txop-vusb-statistics"
VERSION = 1
