# shellcheck shell=bash
# What the benchmarks of this folder run; each sources it.

# built NAME PROGRAM ...: the variable names a program; unless it is set, a release build of it is made.
built() {
    local name=$1 path=$2
    shift 2
    if [ -z "${!name:-}" ]; then
        cargo build --quiet --release "$@"
        printf -v "$name" %s "$PWD/target/release/$path"
    fi
    export "${name?}"
}

# installed PROGRAM[:PACKAGE] ...: installs the Debian packages of programs that are missing.
installed() {
    local root=() one
    [ "$(id -u)" = 0 ] || root=(sudo -n)
    for one in "$@"; do
        command -v "${one%:*}" >/dev/null ||
            "${root[@]}" apt-get install -y -qq --no-install-recommends "${one#*:}" >/dev/null
    done
}

built MFA_BIN mfa --package mfa
