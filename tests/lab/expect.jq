# The words that stacks use after `#=`, over the report of `walwise check -v --format json`, and after `#probe=`, over that of
# `walwise probe --format json`. What an expression is false or null for is a failure; $kernel is the series, for what
# differs.

# The verdict of the stack's directory.
def verdict: .verdicts[0];
def standing($value): verdict.standing == $value;

# What the copies and the parity beneath are worth when one more thing fails.
def redundancy($value): verdict.redundancy == $value;

# Whether the one sentence, some evidence, or something missing says so.
def sentence($re): verdict.sentence | test($re);
def evidence($subject; $re): any(verdict.paths[].evidence[]; .subject == $subject and (.text | test($re)));
def missing($re): any(verdict.missing[]; tostring | test($re));

# Layers from top to bottom, the target and mount left out: "md0: RAID1, 2 of 2, 511 MiB" and what is said of its cache.
def layers: [.stacks[0].layers[] | select(.subject | startswith("device ")) | (.subject[7:]) + ": " + .text];
def stack($re): layers | join("\n") | test($re);
def cache($device; $re): any(.stacks[0].layers[]; .subject == "device " + $device and (.cache | test($re)));
def leaves: [verdict.paths[].hops[-1]] | unique | map(sub("^device "; ""));

# What was read of a device, of anything else; facts by their whole names.
def fact($subject; $name): first(.facts[] | select(.subject == $subject and .fact == $name)) | .reading.value;
def device($name; $fact): fact("device " + $name; $fact);

# Findings: which rules apply, on whatever.
def applies($rule): any(.findings[]; .rule == $rule and .outcome.outcome == "applies");

# Lines of fstab that a stack tried (`tried` of guest/lib.sh): how many were taken and refused, and those of which walwise
# said the opposite. What it calls undecided is neither, and so is a line of which a word was not kept.
def kept_in_part: [.facts[] | select(.fact == "boot.whole" and .reading.value == false) | .subject];
def lines($came; $fact): kept_in_part as $part
    | [.facts[] | select(.fact == $fact and (.subject | startswith("boot /" + $came + "/")) and (.subject | IN($part[]) | not))];
def taken: lines("taken"; "boot.options") | length;
def refused: lines("refused"; "boot.options") | length;
def taken_but_called_refused: lines("taken"; "boot.refused_options") | map(select(.reading.value != []));
def refused_but_called_taken: lines("refused"; "boot.refused_options") + lines("refused"; "boot.undecided_options")
    | group_by(.subject) | map(select(([.[].reading.value] | add) == []));
def undecided_lines: lines("taken"; "boot.undecided_options") + lines("refused"; "boot.undecided_options")
    | map(select(.reading.value != []));

# The disk of a stack of one, whatever its name.
def disk: .stacks[0].layers[-1].subject;

# `#probe=`: the methods that a server could use, and whether everything was measured whole, whatever it took.
def server: .methods[] | select(.as_server);
def measured: (.cancelled | not) and .rounds > 0 and .bytes_written > 0
    and ([server.method] | unique) == ["fdatasync", "fsync", "open_datasync", "open_sync"]
    and ([.rounds] == ([.methods[].back_to_back.rounds_us | length] | unique))
    and all(server | select(.pages == 1); .paced.samples > 0)
    and all(.methods[] | .back_to_back, .paced | values;
        .samples >= (.rounds_us | length) and .median_us.low <= .median_us.value and .median_us.value <= .median_us.high);
