#!/usr/bin/env python3
"""Trains a small GPT-2 in PyTorch and writes what it saw: weights, batches, losses, gradients, weights after.

usage: torch_reference.py OUT.safetensors [--layers 2 --heads 3 --width 48 --sequence 21 --vocabulary 67 ...]

The file holds, in safetensors format and with Hugging Face's names: weights as `w.NAME`, gradients of the first
batch's mean loss as `g.NAME`, weights after the AdamW steps as `a.NAME`, `tokens` and `targets` [steps, sequences,
sequence], `losses` [steps].
"""
import argparse
import json
import math
import struct
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    print(f"PyTorch is not here ({missing}); Debian's package is python3-torch", file=sys.stderr)
    sys.exit(77)


def make_weights(a, generator):
    def matrix(rows, columns, deviation=0.08):
        return torch.randn(rows, columns, generator=generator) * deviation

    def vector(size, around):
        return around + torch.randn(size, generator=generator) * 0.1

    c = a.width
    w = {"wte.weight": matrix(a.vocabulary, c), "wpe.weight": matrix(a.sequence, c),
         "ln_f.weight": vector(c, 1), "ln_f.bias": vector(c, 0)}
    for i in range(a.layers):
        h = f"h.{i}."
        for norm in ("ln_1", "ln_2"):
            w[h + norm + ".weight"], w[h + norm + ".bias"] = vector(c, 1), vector(c, 0)
        for name, rows, columns in (("attn.c_attn", c, 3 * c), ("attn.c_proj", c, c),
                                    ("mlp.c_fc", c, 4 * c), ("mlp.c_proj", 4 * c, c)):
            w[h + name + ".weight"], w[h + name + ".bias"] = matrix(rows, columns), vector(columns, 0)
    return {name: value.requires_grad_() for name, value in w.items()}


def loss_of(w, a, tokens, targets):
    def norm(x, name):
        return F.layer_norm(x, (a.width,), w[name + ".weight"], w[name + ".bias"], 1e-5)

    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    b, t = tokens.shape
    later = torch.triu(torch.ones(t, t, dtype=torch.bool), 1)
    x = w["wte.weight"][tokens] + w["wpe.weight"][:t]
    for i in range(a.layers):
        h = f"h.{i}."
        q, k, v = (z.view(b, t, a.heads, -1).transpose(1, 2)
                   for z in linear(norm(x, h + "ln_1"), h + "attn.c_attn").split(a.width, dim=2))
        scores = (q @ k.transpose(-2, -1) / math.sqrt(a.width // a.heads)).masked_fill(later, float("-inf"))
        heads = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, a.width)
        x = x + linear(heads, h + "attn.c_proj")
        up = linear(norm(x, h + "ln_2"), h + "mlp.c_fc")
        gelu = 0.5 * up * (1 + torch.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up ** 3)))
        x = x + linear(gelu, h + "mlp.c_proj")
    logits = norm(x, "ln_f") @ w["wte.weight"].t()
    return F.cross_entropy(logits.view(-1, a.vocabulary), targets.reshape(-1))


def write_safetensors(path, tensors):
    header, chunks, offset = {}, [], 0
    for name, tensor in tensors.items():
        kind = {torch.float32: "F32", torch.float64: "F64", torch.int32: "I32"}[tensor.dtype]
        chunk = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [offset, offset + len(chunk)]}
        chunks.append(chunk)
        offset += len(chunk)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    for name, value in (("layers", 2), ("heads", 3), ("width", 48), ("sequence", 21), ("vocabulary", 67),
                        ("sequences", 3), ("steps", 5), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--weight-decay", type=float, default=0.1)
    a = parser.parse_args()
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(a.seed)
    w = make_weights(a, generator)
    out = {"w." + name: value.detach().clone() for name, value in w.items()}
    data = torch.randint(0, a.vocabulary, (a.steps, a.sequences, a.sequence + 1), generator=generator)
    tokens, targets = data[..., :-1], data[..., 1:]
    optimizer = torch.optim.AdamW(
        [{"params": [v for v in w.values() if v.dim() > 1], "weight_decay": a.weight_decay},
         {"params": [v for v in w.values() if v.dim() == 1], "weight_decay": 0.0}],
        lr=a.learning_rate, betas=(0.9, 0.95), eps=1e-8)
    losses = []
    for step in range(a.steps):
        optimizer.zero_grad()
        loss = loss_of(w, a, tokens[step], targets[step])
        loss.backward()
        if step == 0:
            out.update({"g." + name: value.grad.clone() for name, value in w.items()})
        optimizer.step()
        losses.append(loss.item())
    out.update({"a." + name: value.detach().clone() for name, value in w.items()})
    out["tokens"], out["targets"] = tokens.int(), targets.int()
    out["losses"] = torch.tensor(losses, dtype=torch.float64)
    write_safetensors(a.out, out)


if __name__ == "__main__":
    main()
