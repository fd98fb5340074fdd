# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/gpu_peers.py runs on the GPU: the contenders, the check of their results, the clock."""
import ctypes
import inspect
import math
import statistics
import subprocess

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPES = {"fp32": (torch.float32, 1), "fp16": (torch.float16, 2), "bf16": (torch.bfloat16, 3)}
torch.backends.cuda.matmul.allow_tf32 = False  # float32 is full-precision products for everybody
torch.backends.cudnn.allow_tf32 = False


class Shape(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int64) for n in ("batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim", "value_dim")]


class Options(ctypes.Structure):
    _fields_ = [("mask_left", ctypes.c_int64), ("mask_right", ctypes.c_int64), ("scale", ctypes.c_double),
                ("kernel", ctypes.c_char_p), ("engine", ctypes.c_char_p), ("tile_q", ctypes.c_int),
                ("tile_k", ctypes.c_int), ("splits", ctypes.c_int), ("workspace_limit", ctypes.c_double)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_int64 * 4)]


class Flashpad:
    """The C interface of flashpad/flashpad.h."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("message", "plan_kernel", "plan_engine", "plan_why"):
            getattr(self.lib, "flashpad_" + name).restype = ctypes.c_char_p
        for name in ("plan_kernel", "plan_engine", "plan_why", "plan_destroy"):
            getattr(self.lib, "flashpad_" + name).argtypes = [ctypes.c_void_p]
        self.lib.flashpad_plan_run.argtypes = [ctypes.c_void_p] * 7
        self.check(self.lib.flashpad_initialize(-1))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.flashpad_message().decode())

    def prepare(self, cell, q, k, v, asked, workspace_limit):
        """A call without arguments that returns O, and what the plan chose. asked: a kernel, or kernel:engine."""
        kernel, _, engine = asked.partition(":")
        o = torch.empty_like(q)
        options = Options()
        self.lib.flashpad_default_options(ctypes.byref(options))
        options.kernel = kernel.encode()
        if engine:
            options.engine = engine.encode()
        options.workspace_limit = workspace_limit
        if cell["causal"]:
            options.mask_right = 0
        shape = Shape(*(q.shape[:2]), k.shape[1], q.shape[2], k.shape[2], q.shape[3], q.shape[3])
        plan = ctypes.c_void_p()
        self.check(self.lib.flashpad_plan_create(ctypes.byref(plan), b"cuda", ctypes.byref(shape),
                                                 DTYPES[cell["dtype"]][1], ctypes.byref(options)))
        tensors = [Tensor(t.data_ptr(), t.stride()) for t in (q, k, v, o)]
        arguments = [ctypes.addressof(t) for t in tensors]
        stream = torch.cuda.current_stream().cuda_stream

        def call():
            status = self.lib.flashpad_plan_run(plan, stream, *arguments, None)
            if status:
                self.check(status)
            return o

        call.keep = tensors, (q, k, v)  # the pointers' owners
        call.close = lambda: self.lib.flashpad_plan_destroy(plan)
        call.choice = {"kernel": self.lib.flashpad_plan_kernel(plan).decode(),
                       "engine": self.lib.flashpad_plan_engine(plan).decode() or None,
                       "why": self.lib.flashpad_plan_why(plan).decode() or None}
        return call


BACKENDS = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}


def bottom_right(cell):
    """PyTorch aligns is_causal top-left; with one query nothing is hidden, and other shapes are left out."""
    if cell["causal"] and cell["nq"] != cell["nk"]:
        raise RuntimeError("its causal mask is aligned top-left")
    return cell["causal"]


def prepare_peer(peer, cell, q, k, v):
    causal = cell["causal"]
    if peer == "fa3":
        from fa3_fwd_interface import flash_attn_func
        if cell["dtype"] != "bf16":
            raise RuntimeError("fa3-fwd is built for bf16 alone")
        qt, kt, vt = (t.transpose(1, 2) for t in (q, k, v))
        # Few queries: 0 lets it split the keys as it sees fit; its default is 1.
        few = cell["nq"] < cell["nk"] and "num_splits" in inspect.signature(flash_attn_func).parameters
        splits = {"num_splits": 0} if few else {}

        def fa3():
            o = flash_attn_func(qt, kt, vt, causal=causal, **splits)
            return (o[0] if isinstance(o, tuple) else o).transpose(1, 2)
        return fa3
    if peer == "triton":
        if cell["dtype"] == "fp32":
            raise RuntimeError("its float32 products are those of tf32")
        from gpu_peers_triton import prepare
        return prepare(q, k, v, bottom_right(cell))
    is_causal = bottom_right(cell)
    gqa = q.shape[1] != k.shape[1]

    def sdpa():
        with sdpa_kernel(BACKENDS[peer]):
            return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=gqa)
    return sdpa


def tf32(x):
    """Rounded to tf32's 11 bits, in float64."""
    unit = 2.0 ** (torch.floor(torch.log2(x.abs().clamp_min(2.0**-126))) - 10)
    return torch.round(x / unit) * unit


def expected(cell, q, k, v, reduced=False):
    """Sampled (b, h, rows), O there in float64, and the error that is allowed: float32's is the test suite's, but where
    its products are those of tf32 (reduced)."""
    torch.manual_seed(1)
    rows = torch.unique(torch.cat([torch.randint(cell["nq"], (60,)), torch.tensor([0, cell["nq"] - 1])])).cuda()
    heads = sorted({(0, 0), (cell["b"] - 1, cell["h"] - 1), (cell["b"] // 2, cell["h"] // 3)})
    group = cell["h"] // cell["kv_heads"]
    samples, plain_error, top = [], 0.0, 0.0
    for b, h in heads:
        kk, vv = k[b, h // group].double(), v[b, h // group].double()
        s = q[b, h, rows].double() @ kk.T / math.sqrt(cell["d"])
        if cell["causal"]:
            hidden = torch.arange(cell["nk"], device="cuda")[None] > rows[:, None] + cell["nk"] - cell["nq"]
            s.masked_fill_(hidden, -math.inf)
        p = torch.exp(s - s.amax(1, keepdim=True))
        o = p @ vv / p.sum(1, keepdim=True)
        if reduced:
            s = tf32(q[b, h, rows].double()) @ tf32(kk).T / math.sqrt(cell["d"])
            if cell["causal"]:
                s.masked_fill_(hidden, -math.inf)
            weights = torch.exp(s - s.amax(1, keepdim=True))
            rounded = tf32(weights) @ tf32(vv) / weights.sum(1, keepdim=True)
        else:
            rounded = (p.to(q.dtype).double() @ vv / p.sum(1, keepdim=True)).to(q.dtype).double()
        plain_error = max(plain_error, (rounded - o).abs().max().item())
        top = max(top, o.abs().max().item())
        samples.append((b, h, o))
    unit = torch.finfo(q.dtype).eps * 2.0 ** math.floor(math.log2(top))
    if q.dtype == torch.float32 and not reduced:
        return rows, samples, 2e-5 * max(1.0, v.abs().max().item())
    return rows, samples, 2 * plain_error + unit


def error_of(o, rows, samples):
    worst = 0.0
    for b, h, want in samples:
        error = (o[b, h, rows].double() - want).abs().max().item()
        worst = max(worst, math.inf if math.isnan(error) else error)
    return worst


def clock_reader():
    """A call that reads the multiprocessors' clock in MHz; None where it cannot be read."""
    try:
        import pynvml
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(0).uuid}")
        read = lambda: pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM)
        read()
        return read
    except Exception:  # no pynvml, or a driver that does not tell
        return lambda: None


FLUSH = None
LEAD = 0.02  # seconds that the device waits first, so that launches are queued when it begins


def time_ms(call, seconds, settle=0.0, clock=lambda: None):
    """Median of single launches, each after the second-level cache was overwritten; the clock halfway; and whether the
    queue had run dry at its end, so that the host's work was timed too."""
    global FLUSH
    if FLUSH is None:
        FLUSH = torch.empty(256 * 2**20, dtype=torch.int8, device="cuda")

    def launches(count, before=0):
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
                  for _ in range(before + count)]
        torch.cuda._sleep(int(LEAD * 1.8e9))
        for start, end in events:
            FLUSH.zero_()
            start.record()
            call()
            end.record()
        dry = events[-2][1].query()
        events[before + count // 2][0].synchronize()
        mhz = clock()
        torch.cuda.synchronize()
        return statistics.median(start.elapsed_time(end) for start, end in events[before:]), mhz, dry

    once = launches(3)[0] + 0.1
    return launches(max(10, min(200, int(seconds * 1e3 / once))), int(settle * 1e3 / once))


def measure(cell, names, flashpad, baseline, orders, clock, a):
    """One row for each name; orders(names) says who runs when in each round."""
    dtype = DTYPES[cell["dtype"]][0]
    torch.manual_seed(0)
    make = lambda heads, n: torch.randn(cell["b"], heads, n, cell["d"], device="cuda", dtype=dtype)
    q, k, v = make(cell["h"], cell["nq"]), make(cell["kv_heads"], cell["nk"]), make(cell["kv_heads"], cell["nk"])
    rows, samples, usual = expected(cell, q, k, v)
    calls, out = {}, {}
    for name in names:
        out[name] = {"name": name, **cell}
        try:
            ours = name.removeprefix("flashpad-") if name.startswith("flashpad-") else None
            reduced = ours is not None and ours.endswith(":mma-tf32")
            tolerance = expected(cell, q, k, v, reduced)[2] if reduced else usual
            limit = a.vendor_limit if ours and ours.partition(":")[0] == "naive-vendor" else 0
            if name == "baseline":
                call = baseline.prepare(cell, q, k, v, a.ours[0], 0)
            else:
                call = flashpad.prepare(cell, q, k, v, ours, limit) if ours else prepare_peer(name, cell, q, k, v)
            out[name].update(getattr(call, "choice", {}))
            out[name]["max_abs_err"], out[name]["tolerance"] = error_of(call(), rows, samples), tolerance
            out[name]["verified"] = out[name]["max_abs_err"] <= tolerance
            torch.cuda.synchronize()
            if out[name]["verified"]:
                calls[name] = call
            else:  # who is wrong is not timed
                getattr(call, "close", lambda: None)()
        except Exception as e:  # one that refuses a shape is a row
            out[name]["error"] = str(e).splitlines()[0][:200] if str(e) else type(e).__name__
    times, clocks = {name: [] for name in calls}, {name: [] for name in calls}
    for order in orders(list(calls)):
        for turn, name in enumerate(order):
            ms, mhz, dry = time_ms(calls[name], a.seconds, a.settle, clock)
            times[name].append(ms)
            clocks[name] += [mhz] * (mhz is not None)
            out[name].setdefault("turns", []).append(turn)
            out[name]["dry_rounds"] = out[name].get("dry_rounds", 0) + dry
    flops = 4.0 * cell["b"] * cell["h"] * cell["nq"] * cell["nk"] * cell["d"] * (0.5 if cell["causal"] else 1.0)
    kv_bytes = 2.0 * q.element_size() * cell["b"] * cell["kv_heads"] * cell["nk"] * cell["d"]
    for name, ms in times.items():
        out[name]["round_ms"], out[name]["ms"] = ms, statistics.median(ms)
        out[name]["ms_min"], out[name]["ms_max"] = min(ms), max(ms)
        out[name]["tflops"] = flops / out[name]["ms"] * 1e-9
        out[name]["kv_bytes_per_s"] = kv_bytes / out[name]["ms"] * 1e3
        if clocks[name]:
            out[name]["clock_mhz"] = statistics.median(clocks[name])
    for call in calls.values():
        getattr(call, "close", lambda: None)()
    return list(out.values())


def card():
    query = "name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,clocks_throttle_reasons.active"
    try:
        run = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True)
        return run.stdout.strip()
    except OSError:
        return None


def context():
    """The machine, for the JSON."""
    return {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(), "card_before": card()}
