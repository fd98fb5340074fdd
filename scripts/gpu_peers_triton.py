"""The tiled online-softmax algorithm as a Triton user would write it: a peer of scripts/gpu_peers.py."""
import math

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"ROWS": r, "KEYS": c}, num_warps=w, num_stages=s)
             for r, c, w, s in ((128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2), (64, 64, 4, 3))],
    key=["D", "CAUSAL"])
@triton.jit
def forward(q, k, v, o, scale, seq, group, D: tl.constexpr, CAUSAL: tl.constexpr, ROWS: tl.constexpr,
            KEYS: tl.constexpr):
    """A program takes ROWS queries of one (batch, head). q, o: (BH, seq, D); k, v: (BH / group, seq, D)."""
    head = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    dim = tl.arange(0, D)
    query = tl.load(q + head * seq * D + row[:, None] * D + dim[None, :], mask=row[:, None] < seq, other=0.0)
    keys = k + head // group * seq * D
    values = v + head // group * seq * D
    largest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, D], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * ROWS, seq) if CAUSAL else seq
    for first in range(0, end, KEYS):
        col = first + tl.arange(0, KEYS)
        s = tl.dot(query, tl.load(keys + col[None, :] * D + dim[:, None], mask=col[None, :] < seq, other=0.0)) * scale
        if first + KEYS > seq or (CAUSAL and first + KEYS > tl.program_id(0) * ROWS):
            shown = col[None, :] < seq
            if CAUSAL:
                shown = shown & (col[None, :] <= row[:, None])
            s = tl.where(shown, s, -float("inf"))
        new = tl.maximum(largest, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        shrink = tl.math.exp2(largest - new)
        total = total * shrink + tl.sum(p, 1)
        value = tl.load(values + col[:, None] * D + dim[None, :], mask=col[:, None] < seq, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * shrink[:, None])
        largest = new
    tl.store(o + head * seq * D + row[:, None] * D + dim[None, :], (acc / total[:, None]).to(o.dtype.element_ty),
             mask=row[:, None] < seq)


def prepare(q, k, v, causal):
    if q.shape[2] != k.shape[2]:
        raise RuntimeError("this Triton kernel takes as many queries as keys")
    b, h, n, d = q.shape
    o = torch.empty_like(q)
    scale = 1.4426950408889634 / math.sqrt(d)

    def call():
        forward[lambda c: (triton.cdiv(n, c["ROWS"]), b * h)](q, k, v, o, scale, n, h // k.shape[1], d, causal)
        return o

    return call
