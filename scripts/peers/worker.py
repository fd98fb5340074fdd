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


def version_of(peer):
    """zentorch registers its operators with the torch it is installed beside."""
    try:
        if peer == "zentorch":
            importlib.import_module("torch")
        return str(getattr(importlib.import_module(peer), "__version__", "unknown"))
    except ImportError:
        return None


def torch_call(request, zen):
    import torch

    torch.set_num_threads(request["threads"])
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[request["dtype"]]
    generator = torch.Generator().manual_seed(1)

    def tensor(heads, rows):
        return torch.randn(1, heads, rows, request["head_dim"], generator=generator).to(dtype)

    copies = [(tensor(request["heads"], request["seq_q"]), tensor(request["kv_heads"], request["seq_k"]),
               tensor(request["kv_heads"], request["seq_k"])) for _ in range(request["copies"])]
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


def onnxruntime_call(request):
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
    random = numpy.random.default_rng(1)
    copies = [{name: random.standard_normal((1, rows, width), dtype=numpy.float32) for name, rows in lengths.items()}
              for _ in range(request["copies"])]
    return lambda turn: session.run(["o"], copies[turn % len(copies)])


def timed(peer, request):
    call = onnxruntime_call(request) if peer == "onnxruntime" else torch_call(request, peer == "zentorch")
    seconds = []
    for turn in range(request["warmup"] + request["repetitions"]):
        start = time.perf_counter()
        call(turn)
        seconds.append(time.perf_counter() - start)
    return seconds[request["warmup"]:]


def main(peer):
    answers = sys.stdout
    sys.stdout = sys.stderr  # a library's own chatter must not be taken for an answer
    print(json.dumps({"version": version_of(peer)}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = {"seconds": timed(peer, json.loads(line))}
        except Exception as error:  # whatever a peer throws is why this cell has no number of it
            answer = {"refused": (str(error) or type(error).__name__).splitlines()[0][:160]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
