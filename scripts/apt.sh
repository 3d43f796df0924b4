# Sourced by the set-up scripts: installing Debian and Ubuntu packages, and saying so first.
# shellcheck shell=sh

# apt_offers PACKAGE [MINIMUM VERSION]: whether the package can be installed here (in at least that version).
apt_offers() {
    candidate=$(LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p')
    [ -n "$candidate" ] && [ "$candidate" != "(none)" ] || return 1
    [ -z "${2-}" ] || dpkg --compare-versions "$candidate" ge "$2"
}

# Another package manager may be at work: a machine that has just booted updates itself. DPkg::Lock::Timeout makes apt-get
# wait for dpkg's locks, but not for those on the lists and on the archive folder; for these we wait ourselves.
apt_wait_s=${apt_wait_s-600}
apt_locks=${apt_locks-/var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock /var/cache/apt/archives/lock}

# apt_lock_holder: the process that holds one of the locks, as "name (process 123)"; fails when none does. /proc/locks
# names files by their device and inode, and anyone may read it.
apt_lock_holder() {
    for lock in $apt_locks; do
        device=$(stat -c %d "$lock" 2>/dev/null) || continue
        file=$(printf '%02x:%02x:%d' $((device >> 8 & 0xfff)) $((device & 0xff | device >> 12 & 0xfff00)) "$(stat -c %i "$lock")")
        holder=$(sed -n "s/.* \([0-9]*\) $file .*/\1/p" /proc/locks 2>/dev/null | head -n 1)
        [ -n "$holder" ] || continue
        echo "$(cat "/proc/$holder/comm" 2>/dev/null || echo "another program") (process $holder)"
        return 0
    done
    return 1
}

# apt_get ARGUMENT...: apt-get as root, when no other package manager is at work. Its stdin is closed so that nothing can
# wait for an answer; `env` because sudo does not pass the variable on.
apt_get() {
    waited=0
    while [ "$waited" -lt "$apt_wait_s" ] && holder=$(apt_lock_holder); do
        [ "$waited" -gt 0 ] || echo "Waiting for another package manager to finish, for up to $apt_wait_s s: $holder" >&2
        sleep 1
        waited=$((waited + 1))
    done
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o "DPkg::Lock::Timeout=$apt_wait_s" "$@" </dev/null
}

# apt_refresh: bring the package lists up to date, once, where we may.
apt_refresh() {
    [ -z "${apt_refreshed-}" ] || return 0
    apt_refreshed=yes
    command -v apt-get >/dev/null 2>&1 || return 0
    if as_root true; then
        echo "Reading the package lists (apt-get update)"
        apt_get -q -q update || echo "apt-get update failed; going on with the lists there are" >&2
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
    command="apt-get -o DPkg::Lock::Timeout=$apt_wait_s install -y --no-install-recommends $*"
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "This system has no apt-get. Install by hand what these Debian packages hold ($why): $*" >&2
        return 1
    fi
    apt_refresh
    echo "Installing system packages, $why: $*"
    echo "  $how$command"
    if ! as_root true; then
        echo "That needs root, and sudo is not available here. Run this as root, then try again:" >&2
        echo "  apt-get -o DPkg::Lock::Timeout=$apt_wait_s update && $command" >&2
        return 1
    fi
    apt_get install -y --no-install-recommends "$@" || {
        echo "Installing failed. The command was: $how$command" >&2
        return 1
    }
}
