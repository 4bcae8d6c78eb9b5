#!/usr/bin/env python3
"""Writes counters/GROUP.txt: which events of which CPU fill the columns of the table `pmu`, and what is made of them.

usage: scripts/derive-events.py FOLDER [--check]

FOLDER holds clones of intel/perfmon (BSD-3-Clause), intel/PerfSpect (BSD-3-Clause), libpfm4 (MIT), the Arm Telemetry Solution (Apache-2.0) and aperf
(Apache-2.0), called perfmon, PerfSpect, libpfm4, telemetry-solution and aperf; bare ones will do. Only codes of events are taken from them, looked up by
the vendor's name for the event: what a group consists of, its formulas and its words are below. NOTICE names the sources. --check writes nothing and
fails where a file would differ.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "counters"


def show(repository, path):
    for git in (ROOT / repository / ".git", ROOT / repository / "repo", ROOT / repository):
        found = subprocess.run(["git", f"--git-dir={git}", "show", f"HEAD:{path}"], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout
    sys.exit(f"{repository}: no {path}")


# --- the vendors' lists: name of the event → its encoding ---


def arm(core):
    events = json.loads(show("telemetry-solution", f"data/pmu/cpu/neoverse/neoverse-{core}.json"))["events"]
    return {name: f"event={int(event['code'], 16):#x}" for name, event in events.items()}


def intel(folder, name):
    found = {}
    for event in json.loads(show("perfmon", f"{folder}/events/{name}_core.json"))["Events"]:
        if event.get("MSRIndex", "0") not in ("0", "0x00", "0x0", ""):
            continue
        number = lambda key: int(str(event.get(key) or "0"), 0)
        terms = [f"event={int(event['EventCode'].split(',')[0], 16):#x}", f"umask={number('UMask'):#x}"]
        terms += [f"cmask={number('CounterMask')}"] if number("CounterMask") else []
        terms += ["inv"] if number("Invert") else []
        terms += ["edge"] if number("EdgeDetect") else []
        terms += ["any"] if number("AnyThread") else []
        found[event["EventName"]] = ",".join(terms)
    version = json.loads(show("perfmon", f"{folder}/events/{name}_core.json"))["Header"]["Version"]
    return found, version


def amd(header):
    """Events of a header of libpfm4; `NAME.MASK+MASK` is an event with unit masks."""
    text = show("libpfm4", f"lib/events/amd64_events_{header}.h")
    masks = {}
    for array in re.finditer(r"static const amd64_umask_t (\w+)\[\]\s*=\s*\{(.*?)\n\};", text, re.S):
        units = re.finditer(r'\.uname\s*=\s*"([^"]+)".*?\.ucode\s*=\s*(0x[0-9a-fA-F]+|\d+)', array[2], re.S)
        masks[array[1]] = {unit[1]: int(unit[2], 0) for unit in units}
    events = {}
    for event in re.finditer(r'\{\s*\.name\s*=\s*"([^"]+)"(.*?)\n\s*\}', text, re.S):
        code = re.search(r"\.code\s*=\s*(0x[0-9a-fA-F]+)", event[2])
        unit = re.search(r"\.umasks\s*=\s*(\w+)", event[2])
        if code:
            events[event[1]] = (int(code[1], 16), masks.get(unit[1], {}) if unit else {})
    return events


def perfspect(name):
    """Events of PerfSpect's lists for AMD, by their names."""
    text = show("PerfSpect", f"cmd/metrics/resources/legacy/events/x86_64/AuthenticAMD/{name}.txt")
    found = {}
    for terms, name in re.findall(r"cpu/(event=[^/]*?),name='([^']+)'/", text):
        found.setdefault(name, ",".join(number(term) for term in terms.split(",")))
    return found


def number(term):
    key, _, value = term.partition("=")
    return f"cmask={int(value, 16)}" if key == "cmask" else f"{key}={int(value, 16):#x}"


class Amd:
    def __init__(self, header, listed):
        self.pfm, self.listed = amd(header), perfspect(listed) if listed else {}

    def get(self, name):
        if name in self.listed:
            return self.listed[name]
        name, _, masks = name.partition(".")
        if name not in self.pfm:
            return None
        code, units = self.pfm[name]
        mask = 0
        for unit in filter(None, masks.split("+")):
            if unit not in units:
                return None
            mask |= units[unit]
        return f"event={code:#x}" + (f",umask={mask:#x}" if mask else "")


# --- what the groups are ---

NEOVERSE = ["neoverse-n1", "neoverse-n2", "neoverse-v1", "neoverse-v2", "neoverse-v3"]
XEON = ["skylake-sp", "cascade-lake", "ice-lake-sp", "sapphire-rapids", "emerald-rapids", "granite-rapids"]
LAKES, RAPIDS = XEON[:2], XEON[2:]
ZEN = ["zen2", "zen3", "zen4", "zen5"]

# In every group: what ratios are divided by. An event that any code makes count says so: the self-test holds it to that.
CYCLES = {
    **{cpu: [("cycles", "CPU_CYCLES", "counts"), ("instructions", "INST_RETIRED", "counts")] for cpu in NEOVERSE},
    **{cpu: [("cycles", "CPU_CLK_UNHALTED.THREAD_P", "counts"), ("instructions", "INST_RETIRED.ANY_P", "counts")] for cpu in XEON},
    **{cpu: [("cycles", "CYCLES_NOT_IN_HALT", "counts"), ("instructions", "RETIRED_INSTRUCTIONS", "counts")] for cpu in ZEN},
    "generic": [("cycles", "hw=cpu-cycles", "counts"), ("instructions", "hw=instructions", "counts")],
}

ITLB_WALKS = [
    (NEOVERSE, [("itlb_walks", "ITLB_WALK", "")]),
    (XEON, [("itlb_walks", "ITLB_MISSES.WALK_COMPLETED", "")]),
    (["zen2"], [("itlb_walks", "L1_ITLB_MISS_L2_ITLB_MISS.IF1G+IF2M+IF4K", "")]),
    (ZEN[1:], [("itlb_walks", "L1_ITLB_MISS_L2_ITLB_MISS.COALESCED4K+IF1G+IF2M+IF4K", "")]),
]


def events(*lists):
    """Puts lists of (CPUs, events) together: CPU → events."""
    found = {}
    for several in lists:
        for cpus, more in several:
            for cpu in cpus:
                found.setdefault(cpu, []).extend(more)
    return found


def slots(width):
    return ("slots", f"= {width} * cycles", "")


def arm_topdown(width, extra, frontend, backend, bad):
    """Arm's formulas of level 1, times the slots: STALL_SLOT counts what went unused."""
    more = [(name.lower(), name, "counts") for name in ("STALL_SLOT_FRONTEND", "STALL_SLOT_BACKEND", "STALL_SLOT", "OP_RETIRED", "OP_SPEC")]
    more += [(name.lower(), name, "counts" if name == "BR_MIS_PRED" else "") for name in extra]
    used = "(slots - stall_slot)" if width != 5 else "(slots - stall_slot + cycles)"
    more += [
        slots(width),
        ("slots_frontend", f"= {frontend}", ""),
        ("slots_backend", f"= {backend}", ""),
        ("slots_retired", f"= op_retired / op_spec * {used}", ""),
        ("slots_bad", f"= (1 - op_retired / op_spec) * {used} + {bad}", ""),
    ]
    return more


PERF_METRICS = [
    # Read through the kernel, which wants the slots first; each is a share of them.
    ("all_slots", "alias=slots", "counts leader"),
    ("td_retiring", "alias=topdown-retiring", "counts"),
    ("td_bad", "alias=topdown-bad-spec", ""),
    ("td_frontend", "alias=topdown-fe-bound", "counts"),
    ("td_backend", "alias=topdown-be-bound", "counts"),
    ("uop_dropping", "INT_MISC.UOP_DROPPING", ""),
    ("slots", "= all_slots", ""),
    ("slots_retired", "= td_retiring / (td_retiring + td_bad + td_frontend + td_backend) * all_slots", ""),
    ("slots_backend", "= td_backend / (td_retiring + td_bad + td_frontend + td_backend) * all_slots", ""),
    ("slots_frontend", "= td_frontend / (td_retiring + td_bad + td_frontend + td_backend) * all_slots - uop_dropping", ""),
    ("slots_bad", "= max(all_slots - slots_retired - slots_backend - slots_frontend, 0)", ""),
]
LEVEL_2 = [
    ("td_memory", "alias=topdown-mem-bound", ""),
    ("td_fetch", "alias=topdown-fetch-lat", ""),
    ("slots_memory", "= td_memory / (td_retiring + td_bad + td_frontend + td_backend) * all_slots", ""),
    ("slots_fetch", "= td_fetch / (td_retiring + td_bad + td_frontend + td_backend) * all_slots - uop_dropping", ""),
]
OLD_TOPDOWN = [
    ("not_delivered", "IDQ_UOPS_NOT_DELIVERED.CORE", "counts"),
    ("issued", "UOPS_ISSUED.ANY", "counts"),
    ("retire_slots", "UOPS_RETIRED.RETIRE_SLOTS", "counts"),
    ("recovery", "INT_MISC.RECOVERY_CYCLES", ""),
    ("recovery_any", "INT_MISC.RECOVERY_CYCLES_ANY", ""),
    ("cycles_any", "CPU_CLK_UNHALTED.THREAD_P_ANY", "counts"),
    ("slots", "= 4 * if(smt, cycles_any / 2, cycles)", ""),
    ("slots_frontend", "= not_delivered", ""),
    ("slots_retired", "= retire_slots", ""),
    ("slots_bad", "= issued - retire_slots + 4 * if(smt, recovery_any / 2, recovery)", ""),
    ("slots_backend", "= slots - slots_frontend - slots_retired - slots_bad", ""),
]


def zen_topdown(width):
    return [
        ("slots_frontend", "de_no_dispatch_per_slot.no_ops_from_frontend", "counts"),
        ("fetch_cycles", "de_no_dispatch_per_cycle.no_ops_from_frontend", ""),
        ("slots_backend", "de_no_dispatch_per_slot.backend_stalls", "counts"),
        ("dispatched", "de_src_op_disp.all", "counts"),
        ("slots_retired", "ex_ret_ops0", "counts"),
        ("no_retire_load", "ex_no_retire.load_not_complete", ""),
        ("no_retire", "ex_no_retire.not_complete", ""),
        slots(width),
        ("slots_bad", "= max(dispatched - slots_retired, 0)", ""),
        ("slots_fetch", f"= {width} * fetch_cycles", ""),
        ("slots_memory", "= slots_backend * no_retire_load / no_retire", ""),
    ]


COLUMNS = {
    "cycles": "cycles in which the CPU was not halted",
    "instructions": "instructions that were carried out to their end (retired)",
    "ref_cycles": "cycles of a clock of constant frequency, while the CPU was not halted",
    "cycles_kernel": "cycles in the kernel",
    "branches": "branches that were carried out to their end",
    "branch_misses": "of them, those that the CPU had predicted wrongly",
    "slots": "slots for operations: cycles times how many the CPU can start in one",
    "slots_frontend": "slots left empty because no operation had been fetched and decoded",
    "slots_backend": "slots left empty because the operations before had not been worked off",
    "slots_bad": "slots lost to wrong predictions: operations thrown away, and what it took to begin again",
    "slots_retired": "slots used by operations that were carried out to their end",
    "slots_fetch": "slots left empty because nothing at all came from instruction fetch, a part of slots_frontend",
    "slots_memory": "slots left empty because of loads and stores, a part of slots_backend",
    "slots_smt": "slots that the other thread of the core had",
    "l1i_misses": "fetches of code that missed the first-level instruction cache",
    "l2i_misses": "fetches of code that missed the second-level cache",
    "itlb_misses": "code addresses that missed the first-level TLB",
    "itlb_walks": "page walks for code",
    "code_sparsity": "event 0x11c of Graviton, of which AWS gives no definition",
    "stalls_frontend": "cycles in which no operation started because none had been fetched",
    "stalls_backend": "cycles in which no operation started because those before had not been worked off",
    "l1d_misses": "lines brought into the first-level data cache",
    "l2_misses": "requests that missed the second-level cache",
    "llc_misses": "requests that missed the last-level cache",
    "dtlb_misses": "data addresses that missed the first-level TLB",
    "dtlb_walks": "page walks for data",
    "walk_cycles": "cycles in which a page walk for a load was under way",
    "mem_local": "lines from memory of the own node",
    "mem_remote": "lines from memory of another node, or from another socket",
    "stalls_memory": "cycles in which nothing went on while data from memory was waited for",
    "hitm": "loads that found their line changed in another core's cache",
    "machine_clears": "times the pipeline was emptied because memory was ordered wrongly",
    "atomics": "atomic operations: locked instructions, or exclusive stores",
    "atomics_failed": "exclusive stores that failed, because another CPU had the line",
    "cycles_distributed": "cycles, divided by the threads of the core that were running",
}

PKI = "per 1,000 instructions"

GROUPS = {
    "core": {
        "title": "core",
        "says": "how fast instructions run, how fast the clock is, and how much of it is the kernel",
        "events": events(
            [(NEOVERSE[1:], [("ref_cycles", "CNT_CYCLES", "counts")])],
            [(XEON, [("ref_cycles", "CPU_CLK_UNHALTED.REF_TSC", "counts")])],
            [(ZEN[2:], [("ref_cycles", "ls_not_halted_p0_cyc", "counts")])],
            [(NEOVERSE, [("cycles_kernel", "CPU_CYCLES:kernel", "")])],
            [(XEON, [("cycles_kernel", "CPU_CLK_UNHALTED.THREAD_P:kernel", "")])],
            [(ZEN, [("cycles_kernel", "CYCLES_NOT_IN_HALT:kernel", "")])],
            [(["generic"], [("cycles_kernel", "hw=cpu-cycles:kernel", "")])],
        ),
        "metrics": [
            ("ipc", "instructions / cycles", "per cycle", "better", 0.02, False,
             "Instructions in a cycle. Other code can need more instructions for the same work: compare it only where the code is the same."),
            ("kernel_share", "cycles_kernel / cycles", "ratio", "worse", 0.01, False, "Share of the cycles that ran in the kernel."),
            ("clock_ratio", "cycles / ref_cycles", "per cycle", "better", 0.01, True,
             "Cycles for each cycle of the reference clock: the frequency, as a multiple of a constant one."),
        ],
    },
    "topdown": {
        "title": "top-down",
        "says": "what the slots for operations were used for, or what kept them empty (level 1, and memory and fetch of level 2)",
        "events": events(
            [(["neoverse-v1"], arm_topdown(8, ["BR_MIS_PRED"], "stall_slot_frontend - 32 * br_mis_pred", "stall_slot_backend", "32 * br_mis_pred"))],
            [(["neoverse-v2"], arm_topdown(8, ["BR_MIS_PRED"], "stall_slot_frontend - 8 * br_mis_pred",
                                           "stall_slot_backend - 24 * br_mis_pred", "32 * br_mis_pred"))],
            [(["neoverse-n2"], arm_topdown(5, ["BR_MIS_PRED"], "stall_slot_frontend - cycles - 5 * br_mis_pred",
                                           "stall_slot_backend - 15 * br_mis_pred", "20 * br_mis_pred"))],
            [(["neoverse-v3"], arm_topdown(10, ["STALL_FRONTEND_FLUSH"], "stall_slot_frontend - 10 * stall_frontend_flush",
                                           "stall_slot_backend", "10 * stall_frontend_flush"))],
            [(LAKES, OLD_TOPDOWN)],
            [(RAPIDS, PERF_METRICS)],
            [(RAPIDS[1:], LEVEL_2)],
            [(["zen4"], zen_topdown(6)), (["zen5"], zen_topdown(8))],
        ),
        "metrics": [
            ("frontend_bound", "slots_frontend / slots", "ratio", "worse", 0.01, True,
             "Share of the slots left empty because instructions did not come fast enough: caches, TLB and predictions for code."),
            ("backend_bound", "slots_backend / slots", "ratio", "worse", 0.01, True,
             "Share of the slots left empty because operations waited for data or for a free unit."),
            ("bad_speculation", "slots_bad / slots", "ratio", "worse", 0.01, True, "Share of the slots lost to wrong predictions."),
            ("retiring", "slots_retired / slots", "ratio", "better", 0.01, True, "Share of the slots that did work which was kept."),
            ("fetch_latency", "slots_fetch / slots", "ratio", "worse", 0.01, True,
             "Share of the slots left empty because nothing came from instruction fetch at all. A part of frontend_bound."),
            ("memory_bound", "slots_memory / slots", "ratio", "worse", 0.01, True,
             "Share of the slots left empty because of loads and stores. A part of backend_bound."),
        ],
    },
    "branch": {
        "title": "branches",
        "says": "how often the CPU predicts a branch wrongly",
        "events": events(
            [(NEOVERSE, [("branches", "BR_RETIRED", "counts"), ("branch_misses", "BR_MIS_PRED_RETIRED", "counts")])],
            [(XEON, [("branches", "BR_INST_RETIRED.ALL_BRANCHES", "counts"), ("branch_misses", "BR_MISP_RETIRED.ALL_BRANCHES", "counts")])],
            [(ZEN, [("branches", "RETIRED_BRANCH_INSTRUCTIONS", "counts"),
                    ("branch_misses", "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", "counts")])],
            [(["generic"], [("branches", "hw=branch-instructions", "counts"), ("branch_misses", "hw=branch-misses", "counts")])],
        ),
        "metrics": [
            ("branch_mpki", "1000 * branch_misses / instructions", PKI, "worse", 0.1, False,
             "Branches predicted wrongly. Each costs 10 to 25 cycles."),
            ("branch_miss_ratio", "branch_misses / branches", "ratio", "worse", 0.002, False, "Share of the branches that were predicted wrongly."),
        ],
    },
    "fetch": {
        "title": "instruction fetch",
        "says": "how often the CPU waits for instructions, by cause",
        "events": events(
            [(NEOVERSE, [("l1i_misses", "L1I_CACHE_REFILL", ""), ("stalls_frontend", "STALL_FRONTEND", "")])],
            [(["generic"], [("stalls_frontend", "hw=stalled-cycles-frontend", "")])],
            [(XEON, [("l1i_misses", "L2_RQSTS.ALL_CODE_RD", ""), ("l2i_misses", "L2_RQSTS.CODE_RD_MISS", "")])],
            [(ZEN, [("l1i_misses", "REQUESTS_TO_L2_GROUP1.CACHEABLE_IC_READ", ""),
                    ("l2i_misses", "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS.IC_FILL_MISS", "")])],
            ITLB_WALKS,
            [(["neoverse-n1", "neoverse-v1", "neoverse-v2"], [("code_sparsity", "graviton:code-sparsity", "only: Amazon EC2")])],
        ),
        "metrics": [
            ("l1i_mpki", "1000 * l1i_misses / instructions", PKI, "worse", 0.2, True,
             "Fetches of code that missed the first-level cache. What counts as one differs by maker."),
            ("l2i_mpki", "1000 * l2i_misses / instructions", PKI, "worse", 0.1, True, "Fetches of code that missed the second-level cache."),
            ("itlb_walks_pki", "1000 * itlb_walks / instructions", PKI, "worse", 0.05, False,
             "Page walks for code. Each costs 20 to 200 cycles; near zero where hot code fits the TLB or lies on huge pages."),
            ("frontend_stalls", "stalls_frontend / cycles", "ratio", "worse", 0.01, True,
             "Share of the cycles in which no operation started because none had been fetched."),
            ("code_sparsity_pki", "1000 * code_sparsity / instructions", PKI, "worse", 0.1, True,
             "AWS calls it code sparsity: how little of the code that is fetched lies close together. Only Graviton counts it."),
        ],
    },
    "data": {
        "title": "data caches",
        "says": "how far away the data lies",
        "events": events(
            [(NEOVERSE, [("l1d_misses", "L1D_CACHE_REFILL", "counts"), ("l2_misses", "L2D_CACHE_REFILL", ""), ("llc_misses", "LL_CACHE_MISS_RD", "")])],
            [(XEON, [("l1d_misses", "L1D.REPLACEMENT", "counts"), ("l2_misses", "L2_LINES_IN.ALL", ""), ("llc_misses", "LONGEST_LAT_CACHE.MISS", "")])],
            [(["zen2"], [("l1d_misses", "DATA_CACHE_REFILLS_FROM_SYSTEM.MABRESP_LCL_L2+LS_MABRESP_LCL_CACHE+LS_MABRESP_LCL_DRAM+"
                                        "LS_MABRESP_RMT_CACHE+LS_MABRESP_RMT_DRAM", "counts")])],
            [(["zen3"], [("l1d_misses", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.LCL_L2+INT_CACHE+EXT_CACHE_LCL+MEM_IO_LCL+EXT_CACHE_RMT+MEM_IO_RMT", "counts")])],
            [(ZEN[2:], [("l1d_misses", "ls_any_fills_from_sys.all", "counts")])],
            [(ZEN, [("l2_misses", "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS.LS_RD_BLK_C+IC_FILL_MISS", "")])],
            [(NEOVERSE, [("stalls_backend", "STALL_BACKEND", "counts")])],
            [(["generic"], [("llc_misses", "hw=cache-misses", ""), ("stalls_backend", "hw=stalled-cycles-backend", "")])],
        ),
        "metrics": [
            ("l1d_mpki", "1000 * l1d_misses / instructions", PKI, "worse", 0.5, True, "Lines brought into the first-level data cache."),
            ("l2_mpki", "1000 * l2_misses / instructions", PKI, "worse", 0.2, True, "Misses of the second-level cache. Each costs 20 to 70 cycles and more."),
            ("backend_stalls", "stalls_backend / cycles", "ratio", "worse", 0.01, True,
             "Share of the cycles in which no operation started because those before had not been worked off."),
            ("llc_mpki", "1000 * llc_misses / instructions", PKI, "worse", 0.1, True,
             "Misses of the last-level cache, which memory answers. Each costs 200 to 500 cycles."),
        ],
    },
    "tlb": {
        "title": "page walks",
        "says": "how often an address had to be looked up in the page tables",
        "events": events(
            [(NEOVERSE, [("dtlb_misses", "L1D_TLB_REFILL", "counts"), ("dtlb_walks", "DTLB_WALK", "")])],
            [(XEON, [("load_hits", "DTLB_LOAD_MISSES.STLB_HIT", ""), ("load_walks", "DTLB_LOAD_MISSES.WALK_COMPLETED", ""),
                     ("store_walks", "DTLB_STORE_MISSES.WALK_COMPLETED", ""), ("walk_cycles", "DTLB_LOAD_MISSES.WALK_ACTIVE", ""),
                     ("dtlb_walks", "= load_walks + store_walks", ""), ("dtlb_misses", "= load_hits + load_walks + store_walks", "")])],
            [(ZEN, [("dtlb_misses", "L1_DTLB_MISS.TLB_RELOAD_1G_L2_MISS+TLB_RELOAD_2M_L2_MISS+TLB_RELOAD_COALESCED_PAGE_MISS+TLB_RELOAD_4K_L2_MISS+"
                                    "TLB_RELOAD_1G_L2_HIT+TLB_RELOAD_2M_L2_HIT+TLB_RELOAD_COALESCED_PAGE_HIT+TLB_RELOAD_4K_L2_HIT", "counts"),
                    ("dtlb_walks", "L1_DTLB_MISS.TLB_RELOAD_1G_L2_MISS+TLB_RELOAD_2M_L2_MISS+TLB_RELOAD_COALESCED_PAGE_MISS+TLB_RELOAD_4K_L2_MISS", "")])],
            ITLB_WALKS,
        ),
        "metrics": [
            ("dtlb_mpki", "1000 * dtlb_misses / instructions", PKI, "worse", 0.2, True,
             "Data addresses that missed the first-level TLB. The second level answers most, in 7 cycles or so."),
            ("dtlb_walks_pki", "1000 * dtlb_walks / instructions", PKI, "worse", 0.05, False,
             "Page walks for data. Huge pages take most of them away."),
            ("itlb_walks_pki", "1000 * itlb_walks / instructions", PKI, "worse", 0.05, False, "Page walks for code."),
            ("walk_share", "walk_cycles / cycles", "ratio", "worse", 0.01, True, "Share of the cycles in which a page walk for a load was under way."),
        ],
    },
    "memory": {
        "title": "memory",
        "says": "how much comes from memory, from which node, and how long it is waited for",
        "events": events(
            [(["neoverse-n1"], [("mem_remote", "REMOTE_ACCESS", "")])],
            [(NEOVERSE[1:], [("mem_remote", "REMOTE_ACCESS", ""), ("stalls_memory", "STALL_BACKEND_MEM", "")])],
            [(NEOVERSE, [("llc_misses", "LL_CACHE_MISS_RD", "")])],
            [(XEON, [("mem_local", "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", ""), ("mem_remote", "MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM", ""),
                     ("stalls_memory", "CYCLE_ACTIVITY.STALLS_L3_MISS", "")])],
            [(["zen2"], [("mem_local", "DATA_CACHE_REFILLS_FROM_SYSTEM.LS_MABRESP_LCL_DRAM", ""),
                         ("mem_remote", "DATA_CACHE_REFILLS_FROM_SYSTEM.LS_MABRESP_RMT_DRAM", "")])],
            [(["zen3"], [("mem_local", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.MEM_IO_LCL", ""),
                         ("mem_remote", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.MEM_IO_RMT", "")])],
            [(ZEN[2:], [("mem_local", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.DRAM_IO_NEAR", ""),
                        ("mem_remote", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.DRAM_IO_FAR", "")])],
        ),
        "metrics": [
            ("mem_remote_pki", "1000 * mem_remote / instructions", PKI, "worse", 0.02, True, "Lines from another node's memory, which is 1.5 to 2 times as far."),
            ("mem_local_pki", "1000 * mem_local / instructions", PKI, "worse", 0.05, True, "Lines from the own node's memory."),
            ("remote_share", "mem_remote / (mem_local + mem_remote)", "ratio", "worse", 0.02, True, "Share of what memory gave that came from another node."),
            ("memory_stalls", "stalls_memory / cycles", "ratio", "worse", 0.01, True, "Share of the cycles in which nothing went on while memory was waited for."),
        ],
    },
    "sharing": {
        "title": "sharing between CPUs",
        "says": "how often CPUs fight over the same lines",
        "events": events(
            [(NEOVERSE, [("atomics", "STREX_SPEC", ""), ("atomics_failed", "STREX_FAIL_SPEC", "")])],
            [(LAKES, [("hitm", "MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", "")])],
            [(RAPIDS, [("hitm", "MEM_LOAD_L3_HIT_RETIRED.XSNP_FWD", "")])],
            [(XEON, [("machine_clears", "MACHINE_CLEARS.MEMORY_ORDERING", ""), ("atomics", "MEM_INST_RETIRED.LOCK_LOADS", "")])],
            [(["zen3"], [("hitm", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.EXT_CACHE_LCL+EXT_CACHE_RMT", "")])],
            [(ZEN[2:], [("hitm", "remote_cache", "")])],
        ),
        "metrics": [
            ("hitm_pki", "1000 * hitm / instructions", PKI, "worse", 0.02, True,
             "Lines that came from another core's cache: on Intel those changed there, on AMD all from another CCX. Each costs 50 to 400 cycles."),
            ("machine_clears_pki", "1000 * machine_clears / instructions", PKI, "worse", 0.01, True,
             "Times the pipeline was emptied because another CPU wrote what had been read too early."),
            ("atomics_pki", "1000 * atomics / instructions", PKI, "neutral", 0.1, True, "Locked instructions on Intel, exclusive stores on Arm (not those of LSE)."),
            ("atomics_failed_share", "atomics_failed / atomics", "ratio", "worse", 0.01, True, "Share of the exclusive stores that failed and were tried again."),
        ],
    },
    "smt": {
        "title": "threads of a core",
        "says": "how much the two threads of a core take from each other",
        "events": events(
            [(RAPIDS, [("cycles_distributed", "CPU_CLK_UNHALTED.DISTRIBUTED", "counts")])],
            [(["zen4"], [("slots_smt", "de_no_dispatch_per_slot.smt_contention", ""), slots(6)])],
            [(["zen5"], [("slots_smt", "de_no_dispatch_per_slot.smt_contention", ""), slots(8)])],
        ),
        "metrics": [
            ("smt_contention", "slots_smt / slots", "ratio", "worse", 0.01, True, "Share of the slots that the other thread of the core had."),
            ("smt_shared", "(2 * cycles - 2 * cycles_distributed) / cycles", "ratio", "neutral", 0.02, True,
             "Share of the cycles in which the other thread of the core was running as well."),
        ],
    },
}


def main(check):
    lists, versions = {}, []
    for cpu in NEOVERSE:
        lists[cpu] = arm(cpu.removeprefix("neoverse-"))
    for cpu, folder, name in zip(XEON, ("SKX", "CLX", "ICX", "SPR", "EMR", "GNR"),
                                 ("skylakex", "cascadelakex", "icelakex", "sapphirerapids", "emeraldrapids", "graniterapids")):
        lists[cpu], version = intel(folder, name)
        versions.append(f"{folder} {version}")
    lists["zen2"], lists["zen3"] = Amd("fam17h_zen2", None), Amd("fam19h_zen3", None)
    lists["zen4"], lists["zen5"] = Amd("fam19h_zen4", "genoa"), Amd("fam1ah_zen5", "turin")
    graviton = json.loads(show("aperf", "src/pmu_configs/grv_pmu_config.json"))
    sparsity = re.search(r"event=(0x11c)", json.dumps(graviton), re.I) or re.search(r'"config":\s*(284|"0x11c")', json.dumps(graviton), re.I)
    if not sparsity:
        sys.exit("aperf: no event 0x11c")

    def encoding(cpu, name):
        name, _, modifier = name.partition(":")
        if name == "graviton":
            return "event=0x11c"
        if not name.startswith(("hw=", "alias=")):
            if name == "remote_cache" and cpu == "zen4":
                name = "ls_any_fills_from_sys.remote_cache"
            elif name == "remote_cache":
                name = "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.NEAR_FAR_CACHE_NEAR+NEAR_FAR_CACHE_FAR"
            if name.startswith("ANY_DATA_CACHE_FILLS_FROM_SYSTEM.DRAM_IO") and lists[cpu].get(name) is None:
                sys.exit(f"{cpu}: no event {name}")
            found = lists[cpu].get(name)
            if found is None:
                sys.exit(f"{cpu}: no event {name}")
            return found + (",kernel" if modifier else "")
        return name + (",kernel" if modifier else "")

    wrong = 0
    for group, about in GROUPS.items():
        used, sections = set(), {}
        for cpu in [*NEOVERSE, *XEON, *ZEN, "generic"]:
            if cpu not in about["events"]:
                continue
            lines = []
            for name, what, words in CYCLES[cpu] + about["events"][cpu]:
                if name in COLUMNS and name not in used:
                    used.add(name)
                if what.startswith("="):
                    lines.append(f"  {name} {what}")
                    continue
                source = what if not what.startswith(("hw=", "alias=")) else ""
                comment = f"  # {source.replace('graviton:code-sparsity', 'aperf: code-sparsity').removesuffix(':kernel')}" if source and len(source) < 60 else ""
                lines.append(f"  {name:<20} {encoding(cpu, what):<36} {words}".rstrip() + comment)
            sections.setdefault("\n".join(lines), []).append(cpu)
        text = f"# group: {group}\n# title: {about['title']}\n# says: {about['says']}\n"
        text += f"# see: Arm Telemetry Solution (Apache-2.0); intel/perfmon {', '.join(versions)} (BSD-3-Clause);\n"
        text += "#   intel/PerfSpect, lists for AMD (BSD-3-Clause); libpfm4 (MIT); aws/aperf (Apache-2.0)\n"
        text += "# made by scripts/derive-events.py\n\n"
        for name, help in COLUMNS.items():
            text += f"column {name}: {help}\n" if name in used else ""
        for lines, cpus in sections.items():
            text += f"\nevents {' '.join(cpus)}\n{lines}\n"
        for name, formula, unit, direction, floor, same, help in about["metrics"]:
            text += f"\nmetric {name} = {formula}\n  unit: {unit}\n  direction: {direction}\n  floor: {floor:g}\n"
            text += "  compare: same cpu only\n" if same else ""
            text += f"  help: {help}\n"
        path = OUT / f"{group}.txt"
        if check:
            if not path.exists() or path.read_text() != text:
                print(f"{path} differs")
                wrong += 1
        else:
            path.write_text(text)
    return wrong


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--check", action="store_true")
    asked = options.parse_args()
    ROOT = asked.folder
    sys.exit(main(asked.check) and 1)
