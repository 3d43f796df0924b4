#!/bin/sh
# Resolves requirements/*.in into pinned, hashed requirements/*.txt for every supported Python, with uv in a throw-away
# environment. The files name no index: pip uses the one it is set up for.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check uv
for name in runtime development documentation distribution flent cluster stores; do
    "$scratch/venv/bin/uv" pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
        --output-file "$scratch/$name.txt" "requirements/$name.in"
    {
        echo "# Resolved from $name.in by \`make requirements\`; not edited by hand."
        cat "$scratch/$name.txt"
    } >"requirements/$name.txt"
done
