#!/bin/sh
# Installs mfa from the folder in which this script is. As root, or with a prefix that you may write to:
#   ./install.sh [--prefix DIR]        into /usr/local, or DIR
#   ./install.sh --uninstall           removes what it has installed; data and settings stay
#   --dry-run                          with either: says what it would do
# It starts nothing and makes no service; at the end it says how.
set -eu
# What is installed is for everybody.
umask 022

prefix=/usr/local
dry=
uninstall=

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

usage() {
    sed -n '2,6s/^# \{0,1\}//p' "$0"
}

while [ $# -gt 0 ]; do
    case $1 in
    --prefix) [ $# -gt 1 ] || fail "--prefix needs a folder"; prefix=$2; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=yes ;;
    --dry-run) dry=yes ;;
    -h | --help) usage; exit ;;
    *) usage >&2; exit 2 ;;
    esac
    shift
done
case $prefix in
/*) ;;
*) fail "--prefix $prefix is no absolute path" ;;
esac
prefix=${prefix%/}
# The files that were installed, one in a line.
list=$prefix/share/doc/mfa/installed
here=$(cd "$(dirname "$0")" && pwd)

remove() {
    if [ -n "$dry" ]; then
        echo "would remove $prefix/$1"
    else
        rm -f "$prefix/$1"
    fi
}

# Copies beside the target first, so that a program that runs is replaced whole.
put() {
    if [ -n "$dry" ]; then
        echo "would install $prefix/$1"
        return
    fi
    mkdir -p "$prefix/$(dirname "$1")" || fail "cannot make $prefix/$(dirname "$1"); run it as root, or give --prefix"
    cp -P "$here/$1" "$prefix/$1.new.$$" || fail "cannot write $prefix/$1; run it as root, or give --prefix"
    case $1 in
    bin/mfa) chmod 755 "$prefix/$1.new.$$" ;;
    *) [ -h "$prefix/$1.new.$$" ] || chmod 644 "$prefix/$1.new.$$" ;;
    esac
    mv -f "$prefix/$1.new.$$" "$prefix/$1"
}

if [ -n "$uninstall" ]; then
    [ -f "$list" ] || fail "there is no $list, so nothing was installed under $prefix from a tarball"
    while IFS= read -r file; do
        remove "$file"
    done <"$list"
    remove share/doc/mfa/installed
    if [ -z "$dry" ]; then
        find "$prefix/share/doc/mfa" -depth -type d -exec rmdir {} \; 2>/dev/null || true
        echo "mfa is removed from $prefix; data, settings and a unit in /etc/systemd/system stay"
    fi
    exit
fi

cd "$here"
[ -f SHA256SUMS ] || fail "SHA256SUMS is missing; unpack the tarball again"
if command -v sha256sum >/dev/null; then
    sha256sum -c SHA256SUMS >/dev/null || fail "a file is damaged; fetch the tarball again"
elif command -v shasum >/dev/null; then
    shasum -a 256 -c SHA256SUMS >/dev/null || fail "a file is damaged; fetch the tarball again"
else
    fail "neither sha256sum nor shasum is here to check the files"
fi

earlier=
[ ! -f "$list" ] || earlier=yes
files=$(find bin share \( -type f -o -type l \) | LC_ALL=C sort)
if [ -n "$earlier" ]; then
    # What an earlier version had and this one has not.
    while IFS= read -r file; do
        echo "$files" | grep -qxF -- "$file" || remove "$file"
    done <"$list"
fi
echo "$files" | while IFS= read -r file; do
    put "$file"
done
[ -z "$dry" ] || exit 0
echo "$files" >"$list"

echo "installed: $("$prefix/bin/mfa" --version), in $prefix/bin as mfa and mfactl"
case :$PATH: in
*":$prefix/bin:"*) ;;
*) echo "$prefix/bin is not in your PATH" ;;
esac
if [ -n "$earlier" ]; then
    echo "a daemon that runs is still the version before: sudo systemctl restart mfa, or mfa daemon restart"
else
    echo "to try it:     mfa quickstart"
    echo "as a service:  mfa help installation"
fi
