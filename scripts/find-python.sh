#!/bin/sh
# Prints a Python that is new enough to run txop and can make virtual environments; fails when there is none.
set -u
for python in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        echo "$python"
        exit 0
    fi
done
exit 1
