"""Writes the small files that tests/io reads: python make_fixtures.py (torch, numpy, safetensors).

Every tensor is arange(24) or a simple function of it, so that tests state the values themselves.
"""
import collections
import os
import zipfile

import numpy as np
import torch
from safetensors.torch import save_file

os.chdir(os.path.dirname(os.path.abspath(__file__)))
a = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)

# torch.save
torch.save(a, "tensor.pt")
torch.save({"latents": a, "step": 3, "sizes": a.shape, "note": "x", "scale": 0.5}, "dict.pt")
torch.save(collections.OrderedDict(b=a + 1, a=a.to(torch.float16)), "two.pt")
torch.save({"state": {"x": [a.to(torch.bfloat16), torch.nn.Parameter(a)]}}, "nested.pt")
torch.save(a.permute(2, 0, 1)[1:, :, ::2], "view.pt")  # strides (1, 12, 8), offset 1
torch.save(a.to(torch.bfloat16), "bf16.pt")
torch.save(a.to(torch.uint16), "u16.pt")  # _rebuild_tensor_v3
torch.save((a / 4).to(torch.float8_e4m3fn), "f8.pt")
torch.save(torch.tensor([True, False]), "bool.pt")
torch.save(torch.zeros(0, 3), "empty.pt")
torch.save(a, "proto4.pt", pickle_protocol=4)
torch.save(torch.ones(1).expand(5), "expanded.pt")
torch.save(a, "legacy.pt", _use_new_zipfile_serialization=False)
torch.save(torch.nn.Linear(2, 2), "module.pt")
torch.save(torch.complex(a, a).conj(), "conj.pt")

with zipfile.ZipFile("tensor.pt") as source, zipfile.ZipFile("deflated.pt", "w", zipfile.ZIP_DEFLATED) as packed:
    for entry in source.infolist():
        packed.writestr(entry.filename, source.read(entry.filename))
with zipfile.ZipFile("tensor.pt") as source, zipfile.ZipFile("big_endian.pt", "w") as packed:
    for entry in source.infolist():
        data = source.read(entry.filename)
        packed.writestr(entry.filename, b"big" if entry.filename.endswith("byteorder") else data)
with zipfile.ZipFile("zip64.pt", "w") as packed, zipfile.ZipFile("tensor.pt") as source:
    for entry in source.infolist():
        with packed.open(entry.filename, "w", force_zip64=True) as file:
            file.write(source.read(entry.filename))

# NumPy
n = a.numpy()
for dtype in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 c8 c16".split():
    np.save(f"{dtype}.npy", n.astype(dtype))
np.save("big.npy", n.astype(">f4"))
np.save("big_c8.npy", (n + 1j * n).astype(">c8"))
np.save("fortran.npy", np.asfortranarray(n))
np.save("scalar.npy", np.float32(7))
np.save("none.npy", np.zeros((0, 3), np.float32))
np.save("object.npy", np.array([None, 1], dtype=object), allow_pickle=True)
np.save("record.npy", np.zeros(2, dtype=[("x", "f4"), ("y", "i4")]))
np.save("text.npy", np.array(["a", "bc"]))
for version in [(2, 0), (3, 0)]:
    with open(f"v{version[0]}.npy", "wb") as file:
        np.lib.format.write_array(file, n, version=version)

# safetensors and ComfyUI latents
save_file({"latent_tensor": a, "latent_format_version_0": torch.tensor([])}, "new.latent")
save_file({"latent_tensor": a}, "old.latent")
save_file({"b": a.to(torch.bfloat16), "h": a.to(torch.float16), "d": a.double(), "i": a.to(torch.int8),
           "t": a > 3, "e": torch.zeros(0), "f8": (a / 4).to(torch.float8_e5m2)}, "mixed.safetensors", {"format": "pt"})
