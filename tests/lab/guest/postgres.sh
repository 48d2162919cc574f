# One step of the drill with PostgreSQL, told by the kernel's command line: to make what a configuration of /postgres says, put
# a cluster there, ask walwise about it and write until the power goes; or to mount what is left, let the server recover and
# check every row. /pg is the disk with the server's programs and a cluster that initdb made (tests/lab/drill-postgres).

BIN=/usr/lib/postgresql/15/bin
MAIN=/drill/main
# Clients that insert; the first one asks for checkpoints too.
CLIENTS="1 2 3"

# A configuration makes and opens its file systems (`make`, `open`) and may define these: the directory before the cluster is
# copied there, what is moved afterwards, and lines for postgresql.conf.
prepare() { mkdir $MAIN; }
arrange() { :; }
settings() { :; }
# What the server runs under.
tracer=

# wal_apart OPTIONS: data on one disk's ext4, the WAL on that of another, which is mounted with these options.
wal_apart() {
    wal_options=$1
    make() {
        mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda
        mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vdb
    }
    open() {
        mkdir -p /drill-wal
        mount -t ext4 -o noatime /dev/vda /drill
        mount -t ext4 -o "$wal_options" /dev/vdb /drill-wal
    }
    arrange() {
        mv $MAIN/pg_wal /drill-wal/pg_wal
        ln -s /drill-wal/pg_wal $MAIN/pg_wal
    }
}

# stamped WHAT: says it, and how long the machine has been up.
stamped() { said "$* $(sed 's/ .*//' /proc/uptime)"; }

sql() { $BIN/psql -XqAt -P pager=off -v ON_ERROR_STOP=1 -h /tmp -U postgres "$@" postgres; }

# The server's programs, where Debian has them, and its user.
programs() {
    until_true "the server's disk is there" grep -qs POSTGRES /sys/block/*/serial
    found=$(grep -l POSTGRES /sys/block/*/serial | sed 's|/sys/block/\(.*\)/serial|\1|')
    until_true "the server's disk is there" test -b "/dev/$found"
    modprobe ext4
    mkdir -p /pg /usr/lib/postgresql /usr/share/postgresql /dev/shm
    mount -t ext4 -o ro "/dev/$found" /pg
    mount -t tmpfs shm /dev/shm
    mount --bind /pg/lib /usr/lib/postgresql
    mount --bind /pg/share /usr/share/postgresql
    ln -s /pg/libraries/* /usr/lib/x86_64-linux-gnu/ 2>/dev/null
    cat /pg/passwd >>/etc/passwd
    echo "postgres:x:$(cut -d: -f4 /pg/passwd):" >>/etc/group
    become="setpriv --reuid postgres --regid $(cut -d: -f4 /pg/passwd) --clear-groups"
    ip link set lo up
}

start() {
    # What an earlier server printed is not what this one prints.
    : >/tmp/server
    $become $tracer $BIN/postgres -D $MAIN >/tmp/server 2>&1 &
    server=$!
    until_true "the server starts or ends" ready
    grep -q "ready to accept connections" /tmp/server
}

ready() { grep -qs "ready to accept connections" /tmp/server || ! kill -0 $server 2>/dev/null; }

later() { [ "$(date +%s)" -gt "$now" ]; }

# client NUMBER: inserts without end, each row a transaction of its own that is acknowledged when it was reported as committed.
client() {
    awk -v client="$1" 'BEGIN {
        for (n = 1; ; n++) {
            printf "SELECT put(%d, %d) \\gset\n\\echo ack %d %d\n", client, n, client, n
            if (client == 1 && n % 60 == 0) print "CHECKPOINT;"
        }
    }' | sql >/dev/ttyS0 2>>/tmp/log || said "step failed: client $1: $(tail -n 5 /tmp/log)"
}

drill_database() {
    modprobe virtio_blk
    mkdir -p /drill
    programs
    case $(word step) in observe) . "/passive/$(word database).sh" ;; *) . "/postgres/$(word database).sh" ;; esac
    until_true "the disk is there" test -b /dev/vda
    [ "$(word disks)" != 2 ] || until_true "the second disk is there" test -b /dev/vdb
    "step_$(word step)"
}

# Makes the configuration and starts the server on it.
serve() {
    make >/tmp/log 2>&1 && open >>/tmp/log 2>&1 && prepare >>/tmp/log 2>&1 || return 1
    cp -a /pg/data/. $MAIN/ && arrange && settings >>$MAIN/postgresql.conf || return 1
    sync
    # walwise does not believe that a server read what was changed in the second of its start.
    now=$(date +%s)
    until_true "the settings were written in a second before" later
    stamped "made"
    start || {
        cat /tmp/server >>/tmp/log
        return 1
    }
    stamped "server runs"
}

step_write() {
    serve || return 1
    walwise check -v $MAIN --no-probe --format json >/tmp/report 2>>/tmp/log || [ $? -le 5 ] || return 1
    jq -r '.verdicts[] | "verdict \(.standing) \(.sentence)"' /tmp/report >/dev/ttyS0
    jq -r '.facts[] | select((.fact | startswith("pg.")) and .reading.state != "known") | "unknown \(.fact): \(.reading)"' /tmp/report >/dev/ttyS0
    jq -r '.findings[] | select(.outcome.outcome == "applies") | "finding \(.level) \(.rule) \(.subject)"' /tmp/report >/dev/ttyS0
    stamped "writing begins"
    for number in $CLIENTS; do client "$number" & done
    wait $!
    cat /tmp/server >>/tmp/log
    return 1
}

# Asks walwise what a commit costs while clients write; then again with a server whose flushes are answered and not made.
step_observe() {
    serve || return 1
    observe honest 1
    kill -INT $server
    wait $server
    tracer="strace --seccomp-bpf -f -qq -e signal=none -e trace=fdatasync,fsync -e inject=fdatasync,fsync:retval=0 -o /dev/null"
    start || return 1
    observe swallowed 1000000
    said "step ended"
}

writing() { [ "$(sql -c "SELECT count(*) > 20 FROM entries WHERE n >= $first" 2>>/tmp/log)" = t ]; }

# observe FLUSHES FIRST: the exit code and the figures of each round; clients write rows from the number FIRST on.
observe() {
    first=$2
    for number in $CLIENTS; do
        awk -v client="$number" -v first="$first" 'BEGIN { for (n = first; ; n++) printf "SELECT put(%d, %d);\n", client, n }' | sql >/dev/null 2>>/tmp/log &
    done
    until_true "clients write" writing
    round=0
    while [ $round -lt "$(word rounds)" ]; do
        round=$((round + 1)) tries=0
        # On a slow machine the server's answer may come too late.
        while [ $((tries += 1)) -le 5 ]; do
            code=0
            walwise probe $MAIN --passive --seconds 8 --format json >/tmp/passive 2>>/tmp/log || code=$?
            [ ! -s /tmp/passive ] || break
        done
        said "$1 $code $(jq -c '{seconds, commits: .commits_per_second.value, us: .commit_us.value, server: .server_flushes.per_second,
            disk: .disk_flushes.per_second, contradiction}' /tmp/passive) $(tail -n 1 /tmp/log)"
    done
}

step_read() {
    if ! open >/tmp/log 2>&1; then
        said "cannot be mounted: $(tail -n 1 /tmp/log)"
    elif ! start; then
        said "server does not start: $(grep -E 'FATAL|PANIC|ERROR' /tmp/server | head -n 3)"
    else
        stamped "server started"
        acknowledged=$(word acknowledged)
        sql -F " " -c "SELECT 'lost ' || lost('{$acknowledged}'), whole()" >/dev/ttyS0 2>>/tmp/log || said "unreadable: $(tail -n 3 /tmp/log)"
        # Catalogues too.
        if $BIN/pg_amcheck -h /tmp -U postgres --heapallindexed postgres >/tmp/amcheck 2>&1; then
            stamped "amcheck clean"
        else
            said "amcheck finds: $(head -n 3 /tmp/amcheck)"
        fi
        kill -INT $server
        wait $server && said "server stopped" || said "server fails: $(tail -n 3 /tmp/server)"
        if $become $BIN/pg_checksums --check -D $MAIN >/tmp/checksums 2>&1; then
            stamped "checksums clean"
        else
            said "checksums find: $(head -n 3 /tmp/checksums)"
        fi
    fi
    for mounted in $(sed -n 's|^[^ ]* \(/drill[^ ]*\) .*|\1|p' /proc/mounts | sed '1!G;h;$!d'); do
        where=$(sed -n "s|^\([^ ]*\) $mounted .*|\1|p" /proc/mounts) type=$(sed -n "s|^[^ ]* $mounted \([^ ]*\).*|\1|p" /proc/mounts)
        umount "$mounted"
        is_sound "$where" "$type" || said "file system damaged: $where"
    done
    stamped "step ended"
}
