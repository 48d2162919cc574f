"""The commands of tests/crash-states/run, in a mount namespace of its own."""
import argparse, concurrent.futures, json, os, platform, random, signal, subprocess, sys, tempfile, time

import explore, liars, record, record_guest, recover_guest, states, workloads, write_log
from powercut import sections, settings

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDINGS = os.path.join(HERE, "recordings")
# Two processors; a third would only wait.
PARALLEL = 2
SHORT_STATES = 500
# States of a gap in the short form: one of each kind, as far as a gap has them.
KINDS = 5
SEED = 50
# States until a liar must be caught.
SOON, LATE = 50, 5000
# In the name of a recording that has more than a thousand flushes.
LONG = "-1200"


def scratch():
    """A directory in the memory that `run` mounted, which vanishes with the mount namespace."""
    directory = tempfile.mkdtemp(dir="/mnt")
    # A server's user passes through.
    os.chmod(directory, 0o711)
    return directory


def explore_log(args):
    """Explores one log and prints what came of it as JSON."""
    description, entries = write_log.load(args.log)
    explorer = explore.Explorer(scratch(), description, entries, args.results)
    workloads.Drill.program = args.walwise
    found, failures = explorer.explore(args.states, args.seed, args.stop, args.gaps, args.seconds)
    if args.walwise:
        found["compared"] = explorer.workload.compared
    found.update(log=os.path.basename(args.log), fs=description["fs"], recorded=description["kernel"], kernel=platform.release(),
                 losses=len(failures),
                 lost=sum(explorer.outcome_of(state).loses(state.gap.acknowledged) for state in failures))
    if failures:
        example = explorer.counter_example(failures[0])
        found.update(writes=len(example["missing"]), text=explore.example_text(example, entries))
        if args.save:
            with open(args.save, "w") as file:
                json.dump(example, file)
    print(json.dumps(found))
    return 1 if failures else 0


def recover_log_in_guest(args):
    """Recovers states of one log under a guest's kernel and prints where it differs from this one."""
    description, entries = write_log.load(args.log)
    if args.liar:
        entries = {**liars.ALL, **liars.MIRROR}[args.liar](entries, args.seed)
    explorer = explore.Explorer(scratch(), description, entries)
    name = os.path.basename(args.log).removesuffix(".xz")
    found = recover_guest.recover_in_guest(explorer, args.kernel, name, args.states, args.seed, os.path.abspath(args.walwise),
                                           args.results, args.seconds)
    print(json.dumps({"log": os.path.basename(args.log), "recorded": description["kernel"], "guest": args.kernel, **found}))
    return 1 if found["differences"] or found["losses"] else 0


def result_of_process(arguments):
    """The same command in a process of its own, which ends with this one."""
    done = subprocess.run(["setpriv", "--pdeathsig", "KILL", sys.executable, os.path.join(HERE, "crash_states.py"), *arguments],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"{' '.join(arguments)}: exit code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def disagreement(verdict, found, fault):
    """What is wrong when the outcome is not what walwise said; damage that is known to be a kernel's is not."""
    if verdict == "durable" and found["lost" if fault else "losses"]:
        return f"durable, and {found['losses']} of {found['states']} states fail"
    if verdict in ("at-risk", "contradictory") and not found["losses"]:
        return f"{verdict}, and none of {found['states']} states fails"
    return None


def verdicts(args):
    """Records configurations of tests/lab/drills.sh, and compares the verdict of each with what its states come to."""
    home, wrong = scratch(), []
    print("| configuration | verdict | gaps | states | distinct | losses |\n|---|---|---|---|---|---|")
    for name in args.configurations or sorted(sections("drills.sh")):
        log = os.path.join(home, name)
        record_guest.record_in_guest(args.kernel, name, log, os.path.abspath(args.walwise), args.commits, "fdatasync", "recycled",
                                     args.physical)
        description, entries = write_log.load(log)
        verdict = description["verdict"]
        command = ["guest", log, "--kernel", args.kernel, "--walwise", args.walwise] if description["layered"] else ["explore", log]
        found = result_of_process([*command, "--states", str(args.states)])
        print(f"| {name} | {verdict} | {len(states.gaps(entries))} | {found['states']} | {found['distinct']} | {found['losses']} |",
              flush=True)
        if why := disagreement(verdict, found, settings(name).fault):
            wrong.append(f"{name}: {why}: {found.get('text', '')}")
    for why in wrong:
        print("wrong:", why)
    return 1 if wrong else 0


def recordings(kind):
    return sorted(os.path.join(RECORDINGS, name) for name in os.listdir(RECORDINGS) if name.startswith(kind))


def lying_logs(home):
    """Logs that lie, and after how many states each must be caught. Their paths are numbers: the engine learns nothing from them."""
    made = [(os.path.basename(path), write_log.load(path)[1], SOON) for path in recordings("liar-")]
    for path in recordings("honest-"):
        _, entries = write_log.load(path)
        for name, lie in liars.ALL.items():
            # One flush in a thousand is for the long recording.
            if (lie is liars.one_in_thousand) == (LONG in path):
                made.append((f"{name} {os.path.basename(path)}", lie(entries, SEED), LATE if LONG in path else SOON))
    random.Random(SEED).shuffle(made)
    for nth, (name, entries, within) in enumerate(made):
        path = os.path.join(home, str(nth))
        with open(path, "wb") as file:
            file.write(write_log.format_log(entries))
        yield name, path, within


def short(args):
    """Every liar, then an equal share of the states from each honest recording that is kept here."""
    home, wrong, begun = scratch(), [], time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as workers:
        asked = []
        for name, path, within in lying_logs(home):
            example = os.path.join(args.examples or home, name.replace(" ", "-") + ".json")
            arguments = ["explore", path, "--states", str(within), "--stop", "--save", example]
            asked.append((name, within, workers.submit(result_of_process, arguments)))
        honest = [path for path in recordings("honest-") if LONG not in path]
        share = -(-SHORT_STATES // len(honest))
        for path in honest:
            arguments = ["explore", path, "--states", str(share), "--gaps", str(share // KINDS)]
            asked.append((os.path.basename(path), 0, workers.submit(result_of_process, arguments)))
        for name, within, work in asked:
            found = work.result()
            wrong += [f"{name}: {why}" for why in complaints(found, within)]
            print(summary(name, found), flush=True)
    print(f"crash states: {time.monotonic() - begun:.0f} s, seed {SEED}, kernel {platform.release()}")
    for why in wrong:
        print("wrong:", why)
    return 1 if wrong else 0


def complaints(found, within):
    """What is wrong with the outcome: a liar that was not caught, or a loss that should not be."""
    if within and not found["losses"]:
        yield f"not caught in {found['states']} states"
    if within and found.get("writes", 0) > 5:
        yield f"the counter-example has {found['writes']} writes"
    if not within and found["losses"]:
        yield f"{found['losses']} of {found['states']} states fail:\n{found['text']}"


def summary(name, found):
    caught = f"caught in state {found['states']}, {found['writes']} writes missing" if found["losses"] else "no loss"
    return f"{name}: {found['states']} states, {found['distinct']} distinct, {found['gaps']} gaps, {found['seconds']} s: {caught}"


def replay(args):
    with open(args.example) as file:
        example = json.load(file)
    fails, text = explore.replay_example(scratch(), example)
    print(text)
    print("it fails" if fails else "it does not fail")
    return 0 if fails else 1


def new_recording(args):
    """In a guest where a kernel is named, otherwise here."""
    how = {key: getattr(args, key) for key in ("commits", "segments", "method")}
    how["walwise"] = os.path.abspath(args.walwise)
    if args.kernel:
        record_guest.record_in_guest(args.kernel, args.stack, args.out, physical=args.physical, **how)
    else:
        home = os.path.join(scratch(), "record")
        os.mkdir(home)
        how.update(options=args.options, cache=args.cache, settings=args.setting)
        record.record(home, args.stack, args.out, args.workload, **how)
    return 0


def main():
    # The kernel ends the children and takes everything down: nothing waits for work that nobody wants any more.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parser = argparse.ArgumentParser(prog="tests/crash-states/run")
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("short")
    command.add_argument("--examples", help="a directory for the counter-examples")
    command.set_defaults(run=short)

    command = commands.add_parser("explore")
    command.add_argument("log")
    command.add_argument("--states", type=int, default=10000)
    command.add_argument("--seconds", type=float, default=float("inf"), help="then it ends; with --results it can go on")
    command.add_argument("--gaps", type=int, help="only as many, drawn by the seed")
    command.add_argument("--seed", type=int, default=SEED)
    command.add_argument("--stop", action="store_true", help="at the first failure")
    command.add_argument("--results", help="a file of outcomes, from which an interrupted run goes on")
    command.add_argument("--walwise", help="a program whose `drill read` has to agree in every state")
    command.add_argument("--save", help="a file for the counter-example")
    command.set_defaults(run=explore_log)

    command = commands.add_parser("guest")
    command.add_argument("log")
    command.add_argument("--kernel", required=True, help="the series of a guest of the lab")
    command.add_argument("--walwise", required=True)
    command.add_argument("--states", type=int, default=500)
    command.add_argument("--seed", type=int, default=SEED)
    command.add_argument("--seconds", type=float, default=float("inf"))
    command.add_argument("--results", help="a file of outcomes, from which an interrupted run goes on")
    command.add_argument("--liar", choices=[*liars.ALL, *liars.MIRROR], help="recover what this makes of the log")
    command.set_defaults(run=recover_log_in_guest)

    command = commands.add_parser("verdicts")
    command.add_argument("configurations", nargs="*", help="of tests/lab/drills.sh; otherwise all")
    command.add_argument("--kernel", required=True, help="the series of a guest of the lab")
    command.add_argument("--walwise", required=True)
    command.add_argument("--states", type=int, default=500)
    command.add_argument("--commits", type=int, default=100)
    command.add_argument("--physical", type=int, default=4096, help="what the guest's disks report as their physical sector")
    command.set_defaults(run=verdicts)

    command = commands.add_parser("replay")
    command.add_argument("example")
    command.set_defaults(run=replay)

    command = commands.add_parser("record")
    command.add_argument("stack", help="a file system; in a guest a configuration of tests/lab/drills.sh")
    command.add_argument("out")
    command.add_argument("--walwise", default="walwise")
    command.add_argument("--commits", type=int, default=40)
    command.add_argument("--segments", default="recycled")
    command.add_argument("--method", default="fdatasync")
    command.add_argument("--workload", choices=workloads.ALL, default="drill")
    command.add_argument("--setting", action="append", default=[], help="of the server")
    command.add_argument("--options", default="defaults", help="of the mount")
    command.add_argument("--cache", help="what is written to queue/write_cache")
    command.add_argument("--kernel", help="a series: in a guest")
    command.add_argument("--physical", type=int, default=512, help="what the guest's disk reports as its physical sector")
    command.set_defaults(run=new_recording)
    args = parser.parse_args(["short" if word == "--short" else word for word in sys.argv[1:]])
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
