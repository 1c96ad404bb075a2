#!/usr/bin/env bash
# A PostgreSQL server of its own for the tests, on a free port of loopback, as an ordinary user.
#   tests/postgres.sh install       installs the Debian package, unless it is there; fails if it cannot
#   tests/postgres.sh start [DIR]   starts it and prints its URL (DIR: where it lives; else a temporary one)
#   tests/postgres.sh stop URL|DIR  stops it and removes its folder
#   tests/postgres.sh halt DIR      kills it as a crash would
#   tests/postgres.sh resume DIR    starts it again after that
#   tests/postgres.sh restart URL   stops it and starts it again, with the environment of this command
#   tests/postgres.sh run COMMAND   starts one, runs COMMAND with MFA_TEST_POSTGRES set, and stops it
# MFA_TEST_POSTGRES_TLS=CERTIFICATE:KEY makes it take nothing but TLS, with these files.
# MFA_TEST_POSTGRES_FSYNC=on makes it sync its commits; tests of failing power have no use for this server.
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }

root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# PostgreSQL refuses to run as root.
as_user() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; else "$@"; fi
}

find_programs() {
    bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
    [ -n "$bin" ] || return 1
    [ -x "$bin/initdb" ] && [ -x "$bin/pg_ctl" ]
}

install() {
    # In the trap of a failed run a bare return would pass the failure on, and the server would stay.
    find_programs && return 0
    say "installing postgresql"
    export DEBIAN_FRONTEND=noninteractive
    root apt-get update -qq >/dev/null || true
    # Debian's package would start a server of its own.
    root mkdir -p /etc/postgresql-common || { say "PostgreSQL is missing, and only root can install it"; exit 1; }
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo 'create_main_cluster = false' | root tee /etc/postgresql-common/createcluster.conf >/dev/null
    root apt-get install -y -qq --no-install-recommends postgresql >/dev/null || true
    find_programs || { say "PostgreSQL cannot be found or installed"; exit 1; }
}

free_port() {
    local port
    for port in $(shuf -i 20000-29999 -n 50); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
    say "no free port"
    exit 1
}

start() {
    install
    local dir=${1:-} port sync=${MFA_TEST_POSTGRES_FSYNC:-off}
    [ -n "$dir" ] || dir=$(mktemp -d "${TMPDIR:-/tmp}/mfa-postgres.XXXXXX")
    mkdir -p "$dir"
    [ "$(id -u)" != 0 ] || chown postgres "$dir"
    as_user "$bin/initdb" -D "$dir/data" -U mfa --auth=trust -E UTF8 --no-locale --no-sync >/dev/null
    for _ in 1 2 3; do
        port=$(free_port)
        cat >"$dir/settings" <<EOT
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = ''
max_connections = 200
fsync = $sync
shared_buffers = 256MB
max_wal_size = 2GB
log_min_messages = fatal
EOT
        # What a server does for standbys and for large tables costs the tests a fifteenth of their time.
        [ "$sync" = on ] || cat >>"$dir/settings" <<EOT
autovacuum = off
wal_level = minimal
max_wal_senders = 0
EOT
        as_user tee -a "$dir/data/postgresql.conf" <"$dir/settings" >/dev/null
        [ -z "${MFA_TEST_POSTGRES_TLS:-}" ] || only_tls "$dir/data"
        if as_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/log" -w -t 60 start >/dev/null 2>&1; then
            echo "$dir" | as_user tee "$dir/data/folder" >/dev/null
            echo "postgres://mfa@127.0.0.1:$port/postgres"
            return
        fi
    done
    say "PostgreSQL does not start: $(tail -n 5 "$dir/data/log" 2>/dev/null)"
    exit 1
}

only_tls() {
    as_user tee "$1/server.crt" <"${MFA_TEST_POSTGRES_TLS%%:*}" >/dev/null
    as_user install -m 600 /dev/null "$1/server.key"
    as_user tee "$1/server.key" <"${MFA_TEST_POSTGRES_TLS#*:}" >/dev/null
    echo 'ssl = on' | as_user tee -a "$1/postgresql.conf" >/dev/null
    echo 'hostssl all all 127.0.0.1/32 trust' | as_user tee "$1/pg_hba.conf" >/dev/null
}

# The folder of the server behind a URL, or the folder itself.
folder() {
    case $1 in
    postgres://*) "$bin/psql" "$1" -Atc "show data_directory" | sed 's|/data$||' ;;
    *) echo "$1" ;;
    esac
}

stop() {
    install
    local dir
    dir=$(folder "$1")
    [ -f "$dir/data/PG_VERSION" ] || { say "no server in $dir"; exit 1; }
    as_user "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
    rm -rf "$dir"
}

case ${1:-} in
install) install ;;
start) start "${2:-}" ;;
stop) stop "${2:?URL or DIR}" ;;
halt)
    install
    as_user "$bin/pg_ctl" -D "${2:?DIR}/data" -m immediate -w stop >/dev/null
    ;;
resume)
    install
    as_user "$bin/pg_ctl" -D "${2:?DIR}/data" -l "$2/data/log" -w -t 60 start >/dev/null
    ;;
restart)
    install
    dir=$(folder "${2:?URL}")
    as_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/log" -m fast -w -t 60 restart >/dev/null
    ;;
run)
    shift
    url=$(start)
    trap 'stop "$url"' EXIT
    MFA_TEST_STORE=postgres MFA_TEST_POSTGRES=$url "$@"
    ;;
*)
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
