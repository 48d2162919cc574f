# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_walwise_global_optspecs
    string join \n new host= mysql-defaults= postgres-config= ascii v/verbose h/help V/version
end

function __fish_walwise_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_walwise_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_walwise_using_subcommand
    set -l cmd (__fish_walwise_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c walwise -n "__fish_walwise_needs_command" -l host -d 'Look at a captured host instead of this one' -r -F
complete -c walwise -n "__fish_walwise_needs_command" -l mysql-defaults -d 'The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this file and what it includes is read. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_needs_command" -l postgres-config -d 'The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_needs_command" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_needs_command" -l ascii -d 'Draw with ASCII characters only'
complete -c walwise -n "__fish_walwise_needs_command" -s v -l verbose -d 'Where there is no terminal: the whole report'
complete -c walwise -n "__fish_walwise_needs_command" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_needs_command" -s V -l version -d 'Print version'
complete -c walwise -n "__fish_walwise_needs_command" -a "check" -d 'Facts, probe, rules, report. With a TARGET it measures there; without one it writes nothing'
complete -c walwise -n "__fish_walwise_needs_command" -a "upgrade" -d 'What the next kernel, distribution or tools change: what will not mount or not boot first'
complete -c walwise -n "__fish_walwise_needs_command" -a "probe" -d 'The measurements alone'
complete -c walwise -n "__fish_walwise_needs_command" -a "drill" -d 'Pull the plug and see what survived: what to do, a writer, and the comparison afterwards'
complete -c walwise -n "__fish_walwise_needs_command" -a "facts" -d 'What was read, and from where'
complete -c walwise -n "__fish_walwise_needs_command" -a "rules" -d 'The rules: list, show, check, test'
complete -c walwise -n "__fish_walwise_needs_command" -a "explain" -d 'Why a rule applies, does not, or cannot be decided'
complete -c walwise -n "__fish_walwise_needs_command" -a "capture" -d 'This host as one text file, serial numbers and names masked'
complete -c walwise -n "__fish_walwise_needs_command" -a "generate" -d 'Things made from the program itself: manual pages, completions, schema, reference, pictures'
complete -c walwise -n "__fish_walwise_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l host -d 'Look at a captured host instead of this one' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l rules -d 'More rules, beside the built-in ones and those in /etc/walwise/rules.d: every *.toml file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l mysql-defaults -d 'The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this file and what it includes is read. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l postgres-config -d 'The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l drill -d 'Count what drills of this stack have shown: a record that `walwise drill check --record` made' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l format -d 'How to say it' -r -f -a "text\t'For people'
json\t'For programs; see `walwise generate schema`'
script\t'A shell script that does nothing until somebody has read and edited it'
conf\t'What belongs in postgresql.conf or [mysqld]'
fstab\t'The lines of /etc/fstab that are to be changed'
unit\t'The same as systemd mount units'
udev\t'udev rules for the settings of block devices'
markdown\t'The whole report as a document for a ticket or a review'"
complete -c walwise -n "__fish_walwise_using_subcommand check" -l only -d 'One part of the whole report' -r -f -a "plan\t'What to do, in order, with the commands to apply, verify and undo it'
evidence\t'What each verdict rests on'
price\t'What a commit costs, method by method'
unknown\t'What is not known, what it leaves undecided, and what would help'"
complete -c walwise -n "__fish_walwise_using_subcommand check" -s o -l output -d 'Write to a file, completely or not at all. What is there is replaced by a new file, whose owner you are' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l output-mode -d 'Permissions of that file, in octal, such as 0640; without it root\'s is for root alone, that of others as their umask says' -r
complete -c walwise -n "__fish_walwise_using_subcommand check" -l baseline -d 'Say what is different since a report that --save kept or --format json made; `last`, or nothing, is the one that was kept last' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l assume -d 'Tell too what would be different if this fact were so; may be given again. Without @SUBJECT the fact of the host, or of the one thing here that has it. It never unlocks a setting that can lose data' -r
complete -c walwise -n "__fish_walwise_using_subcommand check" -l fs -d 'The file system that TARGET, a free device, is to get instead of the first choice: plan, script and lines follow it. It allows nothing that is refused without it' -r -f -a "ext4\t''
xfs\t''
btrfs\t''
zfs\t''"
complete -c walwise -n "__fish_walwise_using_subcommand check" -l seconds -d 'How long to measure at most' -r
complete -c walwise -n "__fish_walwise_using_subcommand check" -l scratch -d 'Where scratch files may lie, on the target\'s file system' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l fail-on -d 'Fail when a finding is at least this' -r -f -a "critical\t'Critical findings only'
warning\t'Warnings too'
never\t'Nothing: the exit code says only whether the command worked'"
complete -c walwise -n "__fish_walwise_using_subcommand check" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l no-programs -d 'Run no other program; what only they can tell stays unknown'
complete -c walwise -n "__fish_walwise_using_subcommand check" -s v -l verbose -d 'The whole report as text: evidence, reasons, what is allowed at a price, how to undo'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l save -d 'Keep the report for the next --baseline, one per host and target: in $XDG_STATE_HOME/walwise or ~/.local/state/walwise, as root in /var/lib/walwise'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l no-probe -d 'Measure nothing'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l fail-on-undecided -d 'Fail too when a rule that would reach --fail-on cannot be decided'
complete -c walwise -n "__fish_walwise_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l kernel -d 'The kernel: its version, or its release as `uname -r` will print it' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l os -d 'The distribution, such as rhel10, debian13, ubuntu24.04, sles15.6, ol9-uek7, amzn2-5.10: its tools and, without --kernel, its kernel' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l e2fsprogs -d 'Version of e2fsprogs' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l xfsprogs -d 'Version of xfsprogs' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l btrfs-progs -d 'Version of btrfs-progs' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l assume -d 'Any other fact that will be another, as with `walwise check`' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l host -d 'Look at a captured host instead of this one' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l rules -d 'More rules, beside the built-in ones and those in /etc/walwise/rules.d: every *.toml file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l mysql-defaults -d 'The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this file and what it includes is read. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l postgres-config -d 'The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l drill -d 'Count what drills of this stack have shown: a record that `walwise drill check --record` made' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l format -d 'How to say it; the JSON is the report of the machine as it is, with `what_if` and `upgrade`' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -s o -l output -d 'Write to a file, completely or not at all. What is there is replaced by a new file, whose owner you are' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l output-mode -d 'Permissions of that file, in octal, such as 0640; without it root\'s is for root alone, that of others as their umask says' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l fail-on -d 'Fail when something is at least this' -r -f -a "critical\t'Critical findings only'
warning\t'Warnings too'
never\t'Nothing: the exit code says only whether the command worked'"
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l no-programs -d 'Run no other program; what only they can tell stays unknown'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l fail-on-undecided -d 'Fail too when something that would reach --fail-on cannot be decided'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l import -d 'Figures that others measured: pg_test_fsync\'s text or fio\'s JSON. They are shown beside, and nothing rests on them' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l seconds -d 'How long to measure at most, each workload: 10 when left out; with --pg-test-fsync how long each test, else 5' -r
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l workload -d 'What to measure; several with commas. Without it, which way to write WAL is best' -r -f -a "wal\t'The ways to write WAL with 1, 2, 4 and 8 pages per commit, in a loop and with pauses'
segment\t'First writes into a new WAL segment: recycled, filled with zeros, or not filled'
group\t'1 to 16 sessions that share flushes'
innodb\t'InnoDB\'s redo log, the binary log, and both in turn'
files\t'Small files made durable under a new name, by 1 to 8 threads'
entangle\t'Commits beside a writer on the same file system'
floor\t'Writes that are never flushed'
all\t'All of them'"
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l scratch -d 'Where scratch files may lie, on the same file system' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l format -d 'How to say it' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l pg-test-fsync -d 'The tests of pg_test_fsync, in its layout'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l force -d 'Measure network and FUSE file systems too, and nearly full ones'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l nice -d 'Run at the lowest priority; figures are then those of a process that waits for all others'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l samples -d 'Every sample in the JSON'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "write" -d 'Writes commits into DIR/walwise-drill until the power goes or it is stopped, and prints each number once it is durable, for a machine that keeps its power'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "read" -d 'Prints which of them are there'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "check" -d 'Says what is lost: exit code 3 if anything is'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from write" -l method -d 'How each commit is made durable' -r -f -a "fdatasync\t'pwrite, fdatasync'
fsync\t'pwrite, fsync'
open_datasync\t'pwrite to a file opened `O_DSYNC`'
open_sync\t'pwrite to a file opened `O_SYNC`'
open_datasync_direct\t'The same with `O_DIRECT`'
open_sync_direct\t'The same with `O_DIRECT`'"
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from write" -l segments -d 'Where commits go' -r -f -a "recycled\t'Round and round in one segment that was filled before'
fresh\t'Into a new segment after each'"
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from write" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from read" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from check" -l record -d 'Add it to this record, which is made where there is none; `walwise check --drill` reads it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "write" -d 'Writes commits into DIR/walwise-drill until the power goes or it is stopped, and prints each number once it is durable, for a machine that keeps its power'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "read" -d 'Prints which of them are there'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "check" -d 'Says what is lost: exit code 3 if anything is'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l target -d 'Look at this directory or device too' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l assume -d 'Show the machine as it would be if this fact were so, what is assumed and what follows from it marked; may be given again. As with `walwise check`' -r
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l format -d 'How to say it' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l host -d 'Look at a captured host instead of this one' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l rules -d 'More rules, beside the built-in ones and those in /etc/walwise/rules.d: every *.toml file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l mysql-defaults -d 'The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this file and what it includes is read. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l postgres-config -d 'The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l drill -d 'Count what drills of this stack have shown: a record that `walwise drill check --record` made' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l list -d 'Every fact there can be, with what it means'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l no-programs -d 'Run no other program; what only they can tell stays unknown'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -f -a "list" -d 'Every rule in a line'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -f -a "show" -d 'One rule in full'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -f -a "check" -d 'Whether files hold well-formed rules; all mistakes at once'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -f -a "stale" -d 'What nobody has compared with its source, or not for a while, and what had a release since'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -f -a "diff" -d 'What differs between two packs of rules and tables'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -f -a "test" -d 'Run the examples in rules: of these files, or of all in force'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check stale diff test help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from list" -l rules -d 'More rules: every *.toml file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from list" -l settings -d 'The settings that rules can advise instead'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from show" -l rules -d 'More rules: every *.toml file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from stale" -l older-than -d 'Checks before this many years, months or days are too old: 1y, 6mo, 90d' -r
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from stale" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "list" -d 'Every rule in a line'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "show" -d 'One rule in full'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "check" -d 'Whether files hold well-formed rules; all mistakes at once'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "stale" -d 'What nobody has compared with its source, or not for a while, and what had a release since'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "diff" -d 'What differs between two packs of rules and tables'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "test" -d 'Run the examples in rules: of these files, or of all in force'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l assume -d 'Explain it on the machine as it would be if this fact were so; may be given again. As with `walwise check`' -r
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l host -d 'Look at a captured host instead of this one' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l rules -d 'More rules, beside the built-in ones and those in /etc/walwise/rules.d: every *.toml file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l mysql-defaults -d 'The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this file and what it includes is read. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l postgres-config -d 'The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l drill -d 'Count what drills of this stack have shown: a record that `walwise drill check --record` made' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l no-programs -d 'Run no other program; what only they can tell stays unknown'
complete -c walwise -n "__fish_walwise_using_subcommand explain" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l mysql-defaults -d 'The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this file and what it includes is read. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l postgres-config -d 'The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand capture" -s o -l output -d 'Write to a file, completely or not at all. What is there is replaced by a new file, whose owner you are' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l output-mode -d 'Permissions of that file, in octal, such as 0640; without it root\'s is for root alone, that of others as their umask says' -r
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l no-mask -d 'Keep serial numbers, UUIDs, addresses, names of hosts and users as they are'
complete -c walwise -n "__fish_walwise_using_subcommand capture" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema reference screens help" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema reference screens help" -f -a "man" -d 'Manual pages: those of all commands into a directory, or walwise(1) to standard output'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema reference screens help" -f -a "completions" -d 'What completes commands, options and their values in a shell'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema reference screens help" -f -a "schema" -d 'The JSON schema of the report'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema reference screens help" -f -a "reference" -d 'The reference of the built-in rules, Markdown'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema reference screens help" -f -a "screens" -d 'A picture of every screen, SVG, as it shows this host or a captured one'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema reference screens help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from man" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l target -d 'Look at this directory or device' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l measured -d 'What was measured: the JSON of `walwise probe`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l columns -d 'Columns of the terminal' -r
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l rows -d 'Rows of the terminal' -r
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l host -d 'Look at a captured host instead of this one' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l rules -d 'More rules, beside the built-in ones and those in /etc/walwise/rules.d: every *.toml file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l mysql-defaults -d 'The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this file and what it includes is read. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l postgres-config -d 'The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where it says, or in the target' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l drill -d 'Count what drills of this stack have shown: a record that `walwise drill check --record` made' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -l no-programs -d 'Run no other program; what only they can tell stays unknown'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from screens" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "man" -d 'Manual pages: those of all commands into a directory, or walwise(1) to standard output'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "completions" -d 'What completes commands, options and their values in a shell'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "schema" -d 'The JSON schema of the report'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "reference" -d 'The reference of the built-in rules, Markdown'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "screens" -d 'A picture of every screen, SVG, as it shows this host or a captured one'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "check" -d 'Facts, probe, rules, report. With a TARGET it measures there; without one it writes nothing'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "upgrade" -d 'What the next kernel, distribution or tools change: what will not mount or not boot first'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "probe" -d 'The measurements alone'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "drill" -d 'Pull the plug and see what survived: what to do, a writer, and the comparison afterwards'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "facts" -d 'What was read, and from where'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "rules" -d 'The rules: list, show, check, test'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "explain" -d 'Why a rule applies, does not, or cannot be decided'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "capture" -d 'This host as one text file, serial numbers and names masked'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "generate" -d 'Things made from the program itself: manual pages, completions, schema, reference, pictures'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade probe drill facts rules explain capture generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from drill" -f -a "write" -d 'Writes commits into DIR/walwise-drill until the power goes or it is stopped, and prints each number once it is durable, for a machine that keeps its power'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from drill" -f -a "read" -d 'Prints which of them are there'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from drill" -f -a "check" -d 'Says what is lost: exit code 3 if anything is'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "list" -d 'Every rule in a line'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "show" -d 'One rule in full'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "check" -d 'Whether files hold well-formed rules; all mistakes at once'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "stale" -d 'What nobody has compared with its source, or not for a while, and what had a release since'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "diff" -d 'What differs between two packs of rules and tables'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "test" -d 'Run the examples in rules: of these files, or of all in force'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "man" -d 'Manual pages: those of all commands into a directory, or walwise(1) to standard output'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "completions" -d 'What completes commands, options and their values in a shell'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "schema" -d 'The JSON schema of the report'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "reference" -d 'The reference of the built-in rules, Markdown'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "screens" -d 'A picture of every screen, SVG, as it shows this host or a captured one'
