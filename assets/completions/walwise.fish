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

complete -c walwise -n "__fish_walwise_needs_command" -l host -d 'Use a capture instead of this host' -r -F
complete -c walwise -n "__fish_walwise_needs_command" -l mysql-defaults -d 'Option file of a stopped MySQL or MariaDB server, like the server\'s --defaults-file. Only this file and the files it includes are read. The data directory is datadir in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_needs_command" -l postgres-config -d 'Configuration file of a stopped PostgreSQL server, like the server\'s config_file. The data directory is data_directory in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_needs_command" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_needs_command" -l ascii -d 'Draw with ASCII characters only'
complete -c walwise -n "__fish_walwise_needs_command" -s v -l verbose -d 'Without a terminal, print the full report'
complete -c walwise -n "__fish_walwise_needs_command" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_needs_command" -s V -l version -d 'Print version'
complete -c walwise -n "__fish_walwise_needs_command" -a "check" -d 'Check storage and settings, and print a report. With a TARGET, also measure there; without one, nothing is written'
complete -c walwise -n "__fish_walwise_needs_command" -a "upgrade" -d 'Show what a new kernel, distribution or tool version would change, boot failures first'
complete -c walwise -n "__fish_walwise_needs_command" -a "show" -d 'Show a saved report'
complete -c walwise -n "__fish_walwise_needs_command" -a "probe" -d 'Measure commit latency only'
complete -c walwise -n "__fish_walwise_needs_command" -a "drill" -d 'Test durability with real power cuts: print instructions, write commits, list lost commits'
complete -c walwise -n "__fish_walwise_needs_command" -a "trial" -d 'Compare file systems on a disk: create, mount and measure each in turn, on a loop file or a spare disk'
complete -c walwise -n "__fish_walwise_needs_command" -a "facts" -d 'Show collected facts and their sources'
complete -c walwise -n "__fish_walwise_needs_command" -a "rules" -d 'List, show and check rules'
complete -c walwise -n "__fish_walwise_needs_command" -a "explain" -d 'Explain why a rule applies, does not apply or is undecided'
complete -c walwise -n "__fish_walwise_needs_command" -a "capture" -d 'Save this host as one text file, with serial numbers and names masked'
complete -c walwise -n "__fish_walwise_needs_command" -a "generate" -d 'Print completions for a shell, or the schema of the JSON report'
complete -c walwise -n "__fish_walwise_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l host -d 'Use a capture instead of this host' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l rules -d 'Load every *.toml rule file in DIR, in addition to the built-in rules and /etc/walwise/rules.d' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l mysql-defaults -d 'Option file of a stopped MySQL or MariaDB server, like the server\'s --defaults-file. Only this file and the files it includes are read. The data directory is datadir in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l postgres-config -d 'Configuration file of a stopped PostgreSQL server, like the server\'s config_file. The data directory is data_directory in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l drill -d 'Use the drill results for this storage stack from a record written by `walwise drill check --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l trial -d 'Use the trial result for this disk from a record written by `walwise trial --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l format -d 'Output format' -r -f -a "text\t'A plain-text report'
script\t'A shell script that does nothing until you have read and edited it'
json\t'The recommendation in machine-readable form; with -v, the full report (schema: `walwise generate schema`)'
conf\t'Settings for postgresql.conf or [mysqld]'
fstab\t'The lines of /etc/fstab to change'
udev\t'udev rules for block device settings'
markdown\t'The full report as a Markdown document, for a ticket or a review'
html\t'The full report as one HTML page with charts, without scripts or external resources; `walwise show` reads it'
prometheus\t'Metrics for the node exporter\'s textfile collector'
nagios\t'One line with performance data, and Nagios exit codes'"
complete -c walwise -n "__fish_walwise_using_subcommand check" -l only -d 'Print only this part of the full report' -r -f -a "plan\t'The plan, in order, with the commands to apply, verify and undo each step'
evidence\t'The evidence for each verdict'
latency\t'Commit latency of each sync method'
unknown\t'Unknown facts, the rules they leave undecided, and how to obtain the facts'"
complete -c walwise -n "__fish_walwise_using_subcommand check" -s o -l output -d 'Write to FILE atomically. An existing file is replaced by a new one that you own' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l output-mode -d 'Mode of the output file in octal, e.g. 0640. Default: 0600 for root, and according to the umask for other users' -r
complete -c walwise -n "__fish_walwise_using_subcommand check" -l baseline -d 'Compare with a report written by --save, --format html or -v --format json; `last`, or no value, selects the last saved report' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l assume -d 'Also show what would differ if this fact had this value; repeatable. Without @SUBJECT, the assumption applies to the host, or to the only subject with this fact. An assumption never unlocks a setting that can lose data' -r
complete -c walwise -n "__fish_walwise_using_subcommand check" -l fs -d 'Use this file system for TARGET, a free device, instead of the recommended one. The plan, script and fstab lines change accordingly. All safety checks still apply' -r -f -a "ext4\t''
xfs\t''
btrfs\t''
zfs\t''"
complete -c walwise -n "__fish_walwise_using_subcommand check" -l db -d 'Database product to advise on if no server exists yet' -r -f -a "postgres\t''
mysql\t'MySQL or MariaDB'"
complete -c walwise -n "__fish_walwise_using_subcommand check" -l seconds -d 'Time limit of the measurement, in seconds' -r
complete -c walwise -n "__fish_walwise_using_subcommand check" -l scratch -d 'Directory for scratch files, on the target\'s file system' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand check" -l fail-on -d 'Exit non-zero for a finding at this level or above' -r -f -a "critical\t'Critical findings only'
warning\t'Critical findings and warnings'
never\t'No finding: the exit code shows only whether the command itself succeeded'"
complete -c walwise -n "__fish_walwise_using_subcommand check" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l no-programs -d 'Do not run external tools; facts that only they report stay unknown'
complete -c walwise -n "__fish_walwise_using_subcommand check" -s v -l verbose -d 'Print the full report as text: evidence, reasons, optional changes, and undo commands'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l save -d 'Save the report for the next --baseline, in $XDG_STATE_HOME/walwise or ~/.local/state/walwise; for root, in /var/lib/walwise. walwise keeps the newest 60 reports per host and target, up to 256 MiB. With --baseline last, a missing report is not an error'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l no-probe -d 'Do not measure'
complete -c walwise -n "__fish_walwise_using_subcommand check" -l fail-on-undecided -d 'Also exit non-zero if an undecided rule could lead to a finding at the --fail-on level'
complete -c walwise -n "__fish_walwise_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l kernel -d 'The new kernel: its version, or its release as printed by `uname -r`' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l os -d 'The new distribution, such as rhel10, debian13, ubuntu24.04, sles15.6, ol9-uek7 or amzn2-5.10. It sets the versions of the tools and, without --kernel, of the kernel' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l e2fsprogs -d 'New version of e2fsprogs' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l xfsprogs -d 'New version of xfsprogs' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l btrfs-progs -d 'New version of btrfs-progs' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l assume -d 'Any other fact that will change, as with `walwise check --assume`' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l host -d 'Use a capture instead of this host' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l rules -d 'Load every *.toml rule file in DIR, in addition to the built-in rules and /etc/walwise/rules.d' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l mysql-defaults -d 'Option file of a stopped MySQL or MariaDB server, like the server\'s --defaults-file. Only this file and the files it includes are read. The data directory is datadir in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l postgres-config -d 'Configuration file of a stopped PostgreSQL server, like the server\'s config_file. The data directory is data_directory in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l drill -d 'Use the drill results for this storage stack from a record written by `walwise drill check --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l trial -d 'Use the trial result for this disk from a record written by `walwise trial --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l format -d 'Output format; the JSON is the report on the present host, with `what_if` and `upgrade` added' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -s o -l output -d 'Write to FILE atomically. An existing file is replaced by a new one that you own' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l output-mode -d 'Mode of the output file in octal, e.g. 0640. Default: 0600 for root, and according to the umask for other users' -r
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l fail-on -d 'Exit non-zero for any change at this level or above' -r -f -a "critical\t'Critical findings only'
warning\t'Critical findings and warnings'
never\t'No finding: the exit code shows only whether the command itself succeeded'"
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l no-programs -d 'Do not run external tools; facts that only they report stay unknown'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -l fail-on-undecided -d 'Also exit non-zero if an undecided change could turn out to be at the --fail-on level or above'
complete -c walwise -n "__fish_walwise_using_subcommand upgrade" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand show" -l format -d 'Output format' -r -f -a "text\t'Text'
json\t'JSON, exactly as in the report'
markdown\t'A Markdown document with all facts'
html\t'One HTML page with all facts and the report embedded'"
complete -c walwise -n "__fish_walwise_using_subcommand show" -s o -l output -d 'Write to FILE atomically. An existing file is replaced by a new one that you own' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand show" -l output-mode -d 'Mode of the output file in octal, e.g. 0640. Default: 0600 for root, and according to the umask for other users' -r
complete -c walwise -n "__fish_walwise_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l seconds -d 'Time limit of each workload in seconds, default 10; with --pg-test-fsync, the seconds per test, default 5' -r
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l workload -d 'What to measure, comma-separated; default: compare the WAL sync methods' -r -f -a "wal\t'WAL sync methods with 1, 2, 4 and 8 pages per commit, paced and back to back'
segment\t'First writes into a new WAL segment: recycled, zero-filled, or not filled'
group\t'Group commit: 1 to 16 clients that share flushes'
innodb\t'InnoDB\'s redo log, the binary log, and both in turn'
files\t'Small files written and durably renamed, 1 to 8 threads'
entangle\t'Commits next to a busy writer on the same file system'
all\t'All workloads'"
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l profile -d 'Measure back-to-back commits in the pattern of one program, and require the limit in its documentation, if any (etcd: p99 < 10ms)' -r -f -a "postgres\t'PostgreSQL\'s WAL: 8 kB, overwritten; flushed with the server\'s method or fdatasync'
innodb\t'InnoDB\'s redo log: 512 B, overwritten; flushed with the server\'s method or fdatasync'
etcd\t'etcd\'s WAL: 2,300 B, appended, fdatasync'
sqlite\t'SQLite\'s WAL with synchronous=FULL: 4,120 B, appended, fdatasync'"
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l require -d 'Test back-to-back commits against a limit such as `p99<10ms`: a quantile (median, p95 or p99), < or <=, and a time in us, ms or s. Exit code: 0 pass, 3 fail, 5 cannot tell' -r
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l scratch -d 'Directory for scratch files, on the same file system as DIRECTORY' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l format -d 'Output format' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l pg-test-fsync -d 'Run the tests of pg_test_fsync, and print the results in its layout'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l passive -d 'Measure what commits of a running PostgreSQL 14+ or MariaDB 10.6+ wait for, without writing; default 30 seconds'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l force -d 'Also measure network, FUSE and nearly full file systems'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l nice -d 'Run at the lowest priority; the figures then include waiting for other processes'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -l samples -d 'Include every sample in the JSON'
complete -c walwise -n "__fish_walwise_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "write" -d 'Write commits into DIR/walwise-drill until the power is cut or you stop the command. The number of each commit is printed once the commit is durable; save the output on another host'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "read" -d 'Print which commits survived'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "check" -d 'Show lost commits; exit code 3 if there are any'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and not __fish_seen_subcommand_from write read check help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from write" -l method -d 'Sync method of the commits' -r -f -a "fdatasync\t'pwrite, fdatasync'
fsync\t'pwrite, fsync'
open_datasync\t'pwrite to a file opened `O_DSYNC`'
open_sync\t'pwrite to a file opened `O_SYNC`'
open_datasync_direct\t'open_datasync with `O_DIRECT`'
open_sync_direct\t'open_sync with `O_DIRECT`'"
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from write" -l segments -d 'WAL segments to write to' -r -f -a "recycled\t'One prefilled segment, overwritten repeatedly'
fresh\t'A new segment whenever the last one is full'"
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from write" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from read" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from check" -l record -d 'Add the result to this record (created if missing), for `walwise check --drill`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "write" -d 'Write commits into DIR/walwise-drill until the power is cut or you stop the command. The number of each commit is printed once the commit is durable; save the output on another host'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "read" -d 'Print which commits survived'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "check" -d 'Show lost commits; exit code 3 if there are any'
complete -c walwise -n "__fish_walwise_using_subcommand drill; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l erase -d 'Serial number or WWN of the spare disk to erase; if omitted, walwise prompts for it' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l candidates -d 'File systems to compare, comma-separated; the first one is the reference' -r -f -a "ext4\t'ext4'
ext4-fast-commit\t'ext4 with fast commits'
xfs\t'XFS'
btrfs\t'btrfs'
btrfs-nocow\t'btrfs with +C on the log directory'
ext4-nobarrier\t'ext4 without barriers: shows the cost of flushing; never ranked'"
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l budget -d 'Time limit, such as 90s, 20m or 2h' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l clients -d 'Numbers of concurrent clients, comma-separated' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l preset -d 'What to measure' -r -f -a "commits\t'Commits to a log'
methods\t'Commits by one client with each sync method'
fs-mark\t'New files, written and flushed in many directories'"
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l size -d 'Size in MiB of the loop file, or of the area used at the beginning of the disk' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l writes -d 'Write limit in GiB; the trial stops before exceeding it' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l seconds -d 'Measurement time in seconds per client count, sync method or directory load in each block' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l seed -d 'Seed of the random order, to repeat the order of an earlier trial' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l format -d 'Output format; the JSON has every sample, command line and version' -r -f -a "text\t'Text'
markdown\t'Markdown'
html\t'One HTML page with charts and the embedded record'
json\t'The record as JSON'"
complete -c walwise -n "__fish_walwise_using_subcommand trial" -s o -l output -d 'Write to FILE atomically. An existing file is replaced by a new one that you own' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l output-mode -d 'Mode of the output file in octal, e.g. 0640. Default: 0600 for root, and according to the umask for other users' -r
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l record -d 'Also save the JSON to FILE' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l clear -d 'Clear the data that an interrupted trial left on the disk, without measuring'
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l yes -d 'Start a trial in a directory without asking'
complete -c walwise -n "__fish_walwise_using_subcommand trial" -l force -d 'Start even if a running server uses the same disk; the trial slows that server down'
complete -c walwise -n "__fish_walwise_using_subcommand trial" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l target -d 'Also check this directory or device' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l assume -d 'Show the host as if this fact had this value, with assumed and derived facts marked; repeatable, as with `walwise check --assume`' -r
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l format -d 'Output format' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l host -d 'Use a capture instead of this host' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l rules -d 'Load every *.toml rule file in DIR, in addition to the built-in rules and /etc/walwise/rules.d' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l mysql-defaults -d 'Option file of a stopped MySQL or MariaDB server, like the server\'s --defaults-file. Only this file and the files it includes are read. The data directory is datadir in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l postgres-config -d 'Configuration file of a stopped PostgreSQL server, like the server\'s config_file. The data directory is data_directory in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l drill -d 'Use the drill results for this storage stack from a record written by `walwise drill check --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l trial -d 'Use the trial result for this disk from a record written by `walwise trial --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l list -d 'List every fact and its meaning'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -l no-programs -d 'Do not run external tools; facts that only they report stay unknown'
complete -c walwise -n "__fish_walwise_using_subcommand facts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check help" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check help" -f -a "list" -d 'List the rules, one per line'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check help" -f -a "show" -d 'Show one rule in full'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check help" -f -a "check" -d 'Check that the files contain valid rules whose examples hold, and report all errors at once'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and not __fish_seen_subcommand_from list show check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from list" -l rules -d 'Also load every *.toml rule file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from list" -l settings -d 'Instead of the rules, list the settings that they can recommend'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from show" -l rules -d 'Also load every *.toml rule file in DIR' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the rules, one per line'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one rule in full'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check that the files contain valid rules whose examples hold, and report all errors at once'
complete -c walwise -n "__fish_walwise_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l assume -d 'Explain as if this fact had this value; repeatable, as with `walwise check --assume`' -r
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l host -d 'Use a capture instead of this host' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l rules -d 'Load every *.toml rule file in DIR, in addition to the built-in rules and /etc/walwise/rules.d' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l mysql-defaults -d 'Option file of a stopped MySQL or MariaDB server, like the server\'s --defaults-file. Only this file and the files it includes are read. The data directory is datadir in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l postgres-config -d 'Configuration file of a stopped PostgreSQL server, like the server\'s config_file. The data directory is data_directory in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l drill -d 'Use the drill results for this storage stack from a record written by `walwise drill check --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l trial -d 'Use the trial result for this disk from a record written by `walwise trial --record`' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l new -d 'The target is a directory that does not exist yet'
complete -c walwise -n "__fish_walwise_using_subcommand explain" -l no-programs -d 'Do not run external tools; facts that only they report stay unknown'
complete -c walwise -n "__fish_walwise_using_subcommand explain" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l mysql-defaults -d 'Option file of a stopped MySQL or MariaDB server, like the server\'s --defaults-file. Only this file and the files it includes are read. The data directory is datadir in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l postgres-config -d 'Configuration file of a stopped PostgreSQL server, like the server\'s config_file. The data directory is data_directory in the file, or TARGET if the file does not set it' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand capture" -s o -l output -d 'Write to FILE atomically. An existing file is replaced by a new one that you own' -r -F
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l output-mode -d 'Mode of the output file in octal, e.g. 0640. Default: 0600 for root, and according to the umask for other users' -r
complete -c walwise -n "__fish_walwise_using_subcommand capture" -l no-mask -d 'Do not mask serial numbers, UUIDs, addresses, or the names of hosts and users'
complete -c walwise -n "__fish_walwise_using_subcommand capture" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from completions schema help" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from completions schema help" -f -a "completions" -d 'Print shell completions for commands, options and values'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from completions schema help" -f -a "schema" -d 'Print the JSON schema of the report'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and not __fish_seen_subcommand_from completions schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "completions" -d 'Print shell completions for commands, options and values'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON schema of the report'
complete -c walwise -n "__fish_walwise_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "check" -d 'Check storage and settings, and print a report. With a TARGET, also measure there; without one, nothing is written'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "upgrade" -d 'Show what a new kernel, distribution or tool version would change, boot failures first'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "show" -d 'Show a saved report'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "probe" -d 'Measure commit latency only'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "drill" -d 'Test durability with real power cuts: print instructions, write commits, list lost commits'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "trial" -d 'Compare file systems on a disk: create, mount and measure each in turn, on a loop file or a spare disk'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "facts" -d 'Show collected facts and their sources'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "rules" -d 'List, show and check rules'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "explain" -d 'Explain why a rule applies, does not apply or is undecided'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "capture" -d 'Save this host as one text file, with serial numbers and names masked'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "generate" -d 'Print completions for a shell, or the schema of the JSON report'
complete -c walwise -n "__fish_walwise_using_subcommand help; and not __fish_seen_subcommand_from check upgrade show probe drill trial facts rules explain capture generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from drill" -f -a "write" -d 'Write commits into DIR/walwise-drill until the power is cut or you stop the command. The number of each commit is printed once the commit is durable; save the output on another host'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from drill" -f -a "read" -d 'Print which commits survived'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from drill" -f -a "check" -d 'Show lost commits; exit code 3 if there are any'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "list" -d 'List the rules, one per line'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "show" -d 'Show one rule in full'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "check" -d 'Check that the files contain valid rules whose examples hold, and report all errors at once'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "completions" -d 'Print shell completions for commands, options and values'
complete -c walwise -n "__fish_walwise_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "schema" -d 'Print the JSON schema of the report'
