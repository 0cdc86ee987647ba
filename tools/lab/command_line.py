"""The command line of lab."""
import argparse
import json
import os
import signal
import sys

import calibration
import labs
import plan as plans
from errors import Failure, Mistake
from manual import EXAMPLES, INTRODUCTION

DEFAULT_NAME = "lab"


def main(arguments, program="lab"):
    options = _parser(program).parse_args(arguments)
    try:
        labs.require_root()
        return options.run(options) or 0
    except Mistake as mistake:
        print(f"{program}: {mistake}", file=sys.stderr)
        return 2
    except (Failure, OSError) as failure:
        print(f"{program}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _parser(program):
    examples = EXAMPLES.replace("    lab ", f"    {program} ")  # an installed one is called strata-lab
    parser = argparse.ArgumentParser(prog=program, description=INTRODUCTION, epilog=examples, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_up(commands)
    down = _add(commands, "down", _down, "end a lab and all that runs in it")
    down.add_argument("--all", action="store_true", help="end all labs")
    status = _add(commands, "status", _status, "show the labs, or with --name one of them", default_name=None)
    status.add_argument("--json", action="store_true")
    execute = _add(commands, "exec", _execute, "run a command on a host")
    execute.add_argument("host", metavar="HOST", help="host1, or 1")
    execute.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD...")
    rate = _add(commands, "rate", _rate, "change rates while the lab runs")
    rate.add_argument("rates", nargs="+", metavar="[TARGET=]RATE")
    link = _add(commands, "link", _link, "cut a link, or put it together again")
    link.add_argument("state", choices=("up", "down"))
    link.add_argument("target", metavar="TARGET", help="host1, rail0, host1.rail0, or rack0 for a rack's uplink")
    _add_calibrate(commands)
    return parser


def _add(commands, name, run, summary, default_name=DEFAULT_NAME):
    command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".",
                                  allow_abbrev=False)
    command.set_defaults(run=run)
    command.add_argument("--name", default=default_name, help=f"the lab's ({default_name or 'all'})")
    return command


def _add_up(commands):
    up = _add(commands, "up", _up, "start a lab")
    up.add_argument("--hosts", type=int, required=True, metavar="N", help=f"1 to {plans.HOSTS_MAX}")
    up.add_argument("--rails", type=int, default=1, metavar="N", help="network interfaces of each host (1)")
    up.add_argument("--racks", type=int, default=1, metavar="N", help="switches, among which hosts are divided (1)")
    up.add_argument("--rate", action="append", default=[], metavar="[TARGET=]RATE",
                    help="of all interfaces of hosts, or of some; may be repeated; later ones count more (none)")
    up.add_argument("--uplink", metavar="RATE", help="of each rack's cable to the core switch (none)")
    up.add_argument("--delay", metavar="TIME", help="added on the way from each host to each other, as in 50us (0)")
    up.add_argument("--attached", action="store_true",
                    help="stay, and end the lab when standard input ends or this command does; prints it as status --json does")


def _add_calibrate(commands):
    calibrate = _add(commands, "calibrate", _calibrate, "measure what TCP gets through each link")
    calibrate.add_argument("--seconds", type=float, default=1.0, help="for each path (1)")
    calibrate.add_argument("--all-pairs", action="store_true", help="of hosts; else each host sends to the next")
    calibrate.add_argument("--max-pressure", type=float, default=10, metavar="PERCENT",
                           help="of the time in which others may wait for a core, before and after (10)")
    calibrate.add_argument("--json", action="store_true")


def _up(options):
    plan = plans.make(options.hosts, options.rails, options.racks, options.rate, options.uplink, options.delay)
    if options.attached:
        return _stay_up(options.name, plan)
    labs.up(options.name, plan)
    return 0


def _stay_up(name, plan):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _interrupt)
    lifeline = labs.up(name, plan, attached=True)
    try:
        print(json.dumps(_facts(labs.get(name))), flush=True)
        while os.read(0, 4096):
            pass
    finally:
        labs.down(name)
        os.close(lifeline)
    return 0


def _interrupt(number, _):
    raise KeyboardInterrupt


def _down(options):
    for name in labs.names() if options.all else [options.name]:
        if not labs.down(name) and not options.all:
            raise Failure(f"there is no lab '{name}'; lab status shows those there are")


def _status(options):
    found = [labs.get(options.name)] if options.name else list(filter(None, map(labs.find, labs.names())))
    if options.json:
        print(json.dumps([_facts(lab) for lab in found], indent=1))
    elif not found:
        print("no lab is up")
    for lab in () if options.json else found:
        _show(_facts(lab))


def _facts(lab):
    plan = lab.plan
    hosts = [{"name": name, "pid": pid, "rack": plan.rack_of(i),
              "rails": [{"address": plans.address(i, rail), "rate_bit_s": plan.rates.get(f"{name}.rail{rail}"),
                         "up": f"{name}.rail{rail}" not in plan.cut} for rail in range(plan.rails)]}
             for i, (name, pid) in enumerate(zip(plan.host_names(), lab.hosts))]
    uplinks = [{"rate_bit_s": plan.rates.get(rack), "up": rack not in plan.cut} for rack in plan.uplinks()]
    return {"name": lab.name, "keeper": lab.keeper, "delay_us": plan.delay_us, "hosts": hosts, "uplinks": uplinks}


def _show(facts):
    delay = f", {facts['delay_us']:g} us between hosts" if facts["delay_us"] else ""
    print(f"lab {facts['name']}: {len(facts['hosts'])} hosts{delay} (keeper: process {facts['keeper']})")
    for host in facts["hosts"]:
        print(f"  {host['name']:<7} rack{host['rack']}  " + "  ".join(
            f"rail{i} {rail['address']} {_rate_of(rail)}" for i, rail in enumerate(host["rails"])))
    for i, uplink in enumerate(facts["uplinks"]):
        print(f"  rack{i:<3} uplink {_rate_of(uplink)}")


def _rate_of(link):
    return plans.format_rate(link["rate_bit_s"]) + ("" if link["up"] else " DOWN")


def _execute(options):
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise Mistake("the command to run is missing, as in: lab exec host1 -- hostname")
    lab = labs.get(options.name)
    return labs.execute(lab, plans.host_number(lab.plan, options.host), command)


def _rate(options):
    labs.set_rates(options.name, options.rates)


def _link(options):
    labs.set_link(options.name, options.target, options.state)


def _calibrate(options):
    if not 0 < options.seconds <= 60:
        raise Mistake(f"--seconds is {options.seconds:g}; it must be over 0, and at most 60")
    result = calibration.calibrate(labs.get(options.name), options.seconds, options.all_pairs, options.max_pressure)
    print(json.dumps(result, indent=1) if options.json else calibration.text(result))
