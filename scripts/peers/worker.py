# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the attention of one peer (PyTorch, ONNX Runtime or zentorch) in this interpreter, one request a line.

usage: worker.py PEER

Started by bench_host.py with each interpreter that it is given; imports nothing of the project. A peer has its
process for itself: OpenMP binds the main thread, and ONNX Runtime's own threads would inherit that one core.
Reads JSON lines on standard input: {"kind", "dtype", "threads", "head_dim", "seq_q", "seq_k", "heads", "kv_heads",
"copies", "warmup", "repetitions"}; answers each with {"seconds": [...]} or {"refused": "why"}. The first line it
writes is {"version": "..."}, null where the peer is not installed.
"""
import importlib
import json
import sys
import time


def presence(peer):
    """The peer's version, or why there is none. zentorch registers its operators with the torch it is installed beside,
    and refuses another than its own."""
    try:
        if peer == "zentorch":
            importlib.import_module("torch")
        return {"version": str(getattr(importlib.import_module(peer), "__version__", "unknown"))}
    except ModuleNotFoundError:
        return {"version": None, "why": "not installed"}
    except ImportError as error:
        return {"version": None, "why": f"not to be loaded: {str(error).splitlines()[0][:160]}"}


def shapes_of(request):
    """Heads and rows of q, k and v."""
    keys = (request["kv_heads"], request["seq_k"])
    return {"q": (request["heads"], request["seq_q"]), "k": keys, "v": keys}


def copies_in(pool, request, fill):
    """The copies of the inputs, one after the other in one long array: it stays for all requests of a type, as filling
    many times the last-level cache takes longer than most calls. `fill` makes an array of so many elements."""
    sizes = [heads * rows * request["head_dim"] for heads, rows in shapes_of(request).values()]
    wanted = request["copies"] * sum(sizes)
    if pool.get("dtype") != request["dtype"] or len(pool["array"]) < wanted:
        pool.clear()
        pool.update(dtype=request["dtype"], array=fill(wanted))
    at = 0
    for _ in range(request["copies"]):
        parts = []
        for size in sizes:
            parts.append(pool["array"][at:at + size])
            at += size
        yield parts


def torch_call(request, zen, pool):
    import torch

    torch.set_num_threads(request["threads"])
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[request["dtype"]]

    def fill(elements):
        block = torch.randn(1000003, generator=torch.Generator().manual_seed(1)).to(dtype)
        return block.repeat(-(-elements // len(block)))

    copies = [[part.view(1, heads, rows, request["head_dim"])
               for part, (heads, rows) in zip(parts, shapes_of(request).values())]
              for parts in copies_in(pool, request, fill)]
    causal = request["kind"] == "causal"
    grouped = {"enable_gqa": True} if request["heads"] != request["kv_heads"] else {}
    if zen and grouped:
        raise NotImplementedError("zentorch_sdpa takes no grouped heads")
    if zen and request["dtype"] == "fp16":
        raise NotImplementedError("zentorch_sdpa hands float16 to PyTorch's own kernel")

    def call(turn):
        q, k, v = copies[turn % len(copies)]
        with torch.inference_mode():
            if zen:
                return torch.ops.zentorch.zentorch_sdpa(q, k, v, 0.0, causal)[0]
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **grouped)

    return call


def onnxruntime_call(request, pool):
    import numpy
    import onnxruntime
    from onnx import TensorProto, helper

    if request["dtype"] != "fp32":
        raise NotImplementedError("MultiHeadAttention on the CPU takes float32 alone")
    if request["heads"] != request["kv_heads"]:
        raise NotImplementedError("MultiHeadAttention takes no grouped heads")
    width = request["heads"] * request["head_dim"]
    lengths = {"q": request["seq_q"], "k": request["seq_k"], "v": request["seq_k"]}
    node = helper.make_node("MultiHeadAttention", list(lengths), ["o"], domain="com.microsoft",
                            num_heads=request["heads"], unidirectional=int(request["kind"] == "causal"))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, rows, width])
              for name, rows in lengths.items()]
    output = helper.make_tensor_value_info("o", TensorProto.FLOAT, [1, request["seq_q"], width])
    model = helper.make_model(helper.make_graph([node], "attention", inputs, [output]), ir_version=10,
                              opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = request["threads"]
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def fill(elements):
        block = numpy.random.default_rng(1).standard_normal(1000003, dtype=numpy.float32)
        return numpy.tile(block, -(-elements // len(block)))

    copies = [{name: part.reshape(1, -1, width) for name, part in zip(lengths, parts)}
              for parts in copies_in(pool, request, fill)]
    return lambda turn: session.run(["o"], copies[turn % len(copies)])


def timed(peer, request, pool):
    if peer == "onnxruntime":
        call = onnxruntime_call(request, pool)
    else:
        call = torch_call(request, peer == "zentorch", pool)
    seconds = []
    for turn in range(request["warmup"] + request["repetitions"]):
        start = time.perf_counter()
        call(turn)
        seconds.append(time.perf_counter() - start)
    return seconds[request["warmup"]:]


def main(peer):
    answers = sys.stdout
    sys.stdout = sys.stderr  # a library's own chatter must not be taken for an answer
    print(json.dumps(presence(peer)), file=answers, flush=True)
    pool = {}
    for line in sys.stdin:
        try:
            answer = {"seconds": timed(peer, json.loads(line), pool)}
        except Exception as error:  # whatever a peer throws is why this cell has no number of it
            answer = {"refused": (str(error) or type(error).__name__).splitlines()[0][:160]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
