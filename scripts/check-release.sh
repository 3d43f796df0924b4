#!/bin/sh
# check-release.sh TAG: whether the commit is ready to be released under the tag, v and the version. Changes nothing.
set -eu
cd "$(dirname "$0")/.."
tag=${1:-}
[ -n "$tag" ] || {
    echo "Name the tag: make release-check TAG=v1.2.3" >&2
    exit 2
}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
wrong=0
complain() {
    echo "$1" >&2
    wrong=1
}
[ "$tag" = "v$version" ] || complain "The tag is $tag, but Cargo.toml says version $version."
grep -q "^## \[$version\] - [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]$" CHANGELOG.md ||
    complain "CHANGELOG.md has no heading '## [$version] - YYYY-MM-DD'."
# Cargo.toml alone decides the version: CITATION.cff repeats it, and the day of the changelog, for those who cite.
grep -q "^version: $version$" CITATION.cff || complain "CITATION.cff has another version than Cargo.toml."
day=$(sed -n "s/^## \[$version\] - //p" CHANGELOG.md)
grep -q "^date-released: \"$day\"$" CITATION.cff || complain "CITATION.cff has another day than CHANGELOG.md."
unreleased=$(sed -n '/^## \[Unreleased\]/,/^## \[[0-9]/p' CHANGELOG.md | grep -c '^\* ' || true)
[ "$unreleased" -eq 0 ] || complain "CHANGELOG.md has items under [Unreleased] ($unreleased): they belong under [$version]."
# has LOCK CRATE: whether the lock has the crate in that version.
has() { grep -A1 "^name = \"$2\"$" "$1" | grep -q "^version = \"$version\"$"; }
has Cargo.lock txop-python || complain "Cargo.lock has another version of txop: run cargo update --workspace."
# The fuzz targets have a lock of their own, and are built with --locked.
has fuzz/Cargo.lock txop-wire || complain "fuzz/Cargo.lock has another version of txop: run cargo update --workspace in fuzz."
[ -z "$(git status --porcelain)" ] || complain "The tree has changes that are not committed."
[ "$wrong" -eq 0 ] && echo "Ready to be released as $tag"
exit "$wrong"
