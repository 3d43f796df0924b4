# Sourced by the set-up scripts: installing Debian and Ubuntu packages, and saying so first.
# shellcheck shell=sh

# apt_offers PACKAGE [MINIMUM VERSION]: whether the package can be installed here (in at least that version).
apt_offers() {
    candidate=$(LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p')
    [ -n "$candidate" ] && [ "$candidate" != "(none)" ] || return 1
    [ -z "${2-}" ] || dpkg --compare-versions "$candidate" ge "$2"
}

# apt_refresh: bring the package lists up to date, once, where we may.
apt_refresh() {
    [ -z "${apt_refreshed-}" ] || return 0
    apt_refreshed=yes
    command -v apt-get >/dev/null 2>&1 || return 0
    if as_root true; then
        echo "Reading the package lists (apt-get update)"
        as_root apt-get -q -q update </dev/null || echo "apt-get update failed; going on with the lists there are" >&2
    fi
}

# as_root COMMAND...: run it as root, through sudo when we are not, and fail when neither is possible.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        sudo "$@"
    else
        return 1
    fi
}

# apt_install WHY PACKAGE...: say what will be installed and why, then do it; otherwise print the command and fail.
apt_install() {
    why=$1
    shift
    how=""
    [ "$(id -u)" -eq 0 ] || how="sudo "
    command="apt-get install -y --no-install-recommends $*"
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "This system has no apt-get. Install by hand what these Debian packages hold ($why): $*" >&2
        return 1
    fi
    apt_refresh
    echo "Installing system packages, $why: $*"
    echo "  $how$command"
    if ! as_root true; then
        echo "That needs root, and sudo is not available here. Run this as root, then try again:" >&2
        echo "  apt-get update && $command" >&2
        return 1
    fi
    # `env` because sudo does not pass the variable on; stdin closed so that nothing can wait for an answer.
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive $command </dev/null || {
        echo "Installing failed. The command was: $how$command" >&2
        return 1
    }
}
