#!/bin/sh
# The fast tests: those of Rust beside those of Python, as both wait for programs part of their time. What the Rust tests print is
# in target/test-rust.log, and shown where one fails. Arguments go to pytest.
set -u
cd "$(dirname "$0")/.."
log=target/test-rust.log
mkdir -p target
echo "Building the Rust tests"
scripts/with-rust.sh cargo test --workspace --locked --no-run --quiet || exit
# In a session of its own, so that its tests end with it: a background job of sh does not get Ctrl-C.
setsid scripts/with-rust.sh cargo test --workspace --locked >"$log" 2>&1 &
rust=$!
trap 'kill -- "-$rust" 2>/dev/null; exit 130' INT TERM HUP

# Twice as many tests at once as there are processors, as many wait for programs, and by the order of files: those with few and
# long tests would come last. What pytest makes of the assertions is kept for the next run, whatever the environment says.
env -u PYTHONDONTWRITEBYTECODE .venv/bin/pytest -m "not slow" -n $(($(nproc) * 2)) --dist loadfile --no-loadscope-reorder "$@"
python_status=$?

wait "$rust"
rust_status=$?
[ "$rust_status" -eq 0 ] || cat "$log"
sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored.*/\1 \2 \3/p' "$log" |
    awk '{ passed += $1; failed += $2; ignored += $3 } END { printf "Rust: %d passed, %d failed, %d ignored\n", passed, failed, ignored }'
[ "$rust_status" -eq 0 ] || exit "$rust_status"
exit "$python_status"
