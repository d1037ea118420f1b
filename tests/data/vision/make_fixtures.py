"""Writes what tests/io and tests/vision compare with:
    python make_fixtures.py          (pillow 13, numpy, torch, safetensors, transformers 5.24)

resize.safetensors: CASE.in, CASE.pillow, CASE.torch; CASE.pillow12 (where OLD_PILLOW names a folder
with an older Pillow and its bits differ). rules.json: sizes and sampled frames as the processors of
transformers work them out. images/, pixels_*.safetensors, preprocess.json and the configs are
copies of the project's goldens.
"""
import ast
import json
import math
import os
import subprocess
import sys
import types

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random = np.random.default_rng(3)

if sys.argv[1:] == ["old"]:  # run with an older Pillow in front
    cases = load_file("resize.safetensors")
    for name in [k[:-3] for k in cases if k.endswith(".in")]:
        height, width, _ = cases[name + ".pillow"].shape
        out = np.array(Image.fromarray(cases[name + ".in"].numpy()).resize((width, height), Image.BICUBIC))
        if not np.array_equal(out, cases[name + ".pillow"].numpy()):
            cases[name + ".pillow12"] = torch.from_numpy(out)
    save_file(cases, "resize.safetensors")
    sys.exit()


def picture(height, width, kind):
    if kind == 0:
        return random.integers(0, 256, (height, width, 3), dtype=np.uint8)
    if kind == 1:  # overshoots at every edge
        return (random.integers(0, 2, (height, width, 3)) * 255).astype(np.uint8)
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x + y, 2 * x, 3 * y], -1).astype(np.uint8)


def side(most):
    return int(np.exp(random.uniform(0, np.log(most))))


sizes = [(1, 1, 1, 1), (1, 1, 37, 9), (61, 83, 1, 1), (1, 90, 3, 4), (90, 1, 4, 3), (5, 5, 5, 9),
         (5, 5, 9, 5), (40, 30, 40, 30), (64, 64, 32, 32), (33, 70, 34, 71), (3, 2000, 2, 20), (2000, 3, 20, 2),
         (40, 20, 19, 10), (40, 20, 20, 10), (40, 39, 1, 20), (40, 39, 2, 20), (40, 20, 39, 21), (40, 20, 41, 21)]
sizes += [tuple(side(160) for _ in range(4)) for _ in range(60)]
tensors = {}
for i, (h, w, H, W) in enumerate(sizes):
    source = picture(h, w, i % 3)
    planes = torch.from_numpy(source).permute(2, 0, 1)[None]
    resized = torch.nn.functional.interpolate(planes, size=[H, W], mode="bicubic", antialias=True)
    name = f"{w}x{h}_to_{W}x{H}"
    tensors[name + ".in"] = torch.from_numpy(source)
    tensors[name + ".pillow"] = torch.from_numpy(np.array(Image.fromarray(source).resize((W, H), Image.BICUBIC)))
    tensors[name + ".torch"] = resized[0].permute(1, 2, 0).contiguous()
save_file(tensors, "resize.safetensors")
if "OLD_PILLOW" in os.environ:
    subprocess.run([sys.executable, __file__, "old"], check=True,
                   env=dict(os.environ, PYTHONPATH=os.environ["OLD_PILLOW"]))

import transformers  # noqa: E402


def rules_of(module):
    """smart_resize and sample_frames, without the module's imports, which want torchvision."""
    path = os.path.join(os.path.dirname(transformers.__file__), "models", module)
    functions = [n for n in ast.walk(ast.parse(open(path).read()))
                 if isinstance(n, ast.FunctionDef) and n.name in ("smart_resize", "sample_frames")]
    for function in functions:
        function.args.kwarg = function.returns = None
        for argument in function.args.args:
            argument.annotation = None
    names = dict(math=math, np=np, torch=torch)
    exec(compile(ast.Module(functions, []), path, "exec"), names)
    return types.SimpleNamespace(smart_resize=names["smart_resize"], sample_frames=names["sample_frames"])


qwen2 = rules_of("qwen2_vl/video_processing_qwen2_vl.py")
qwen3 = rules_of("qwen3_vl/video_processing_qwen3_vl.py")
pictures = []
while len(pictures) < 150:
    h, w = side(9000), side(9000)
    factor, least, most = [(32, 65536, 16777216), (28, 3136, 1003520), (28, 4096, 18432), (32, 1, 4096)][len(pictures) % 4]
    if max(h, w) / min(h, w) <= 200:
        pictures.append([h, w, factor, least, most, *qwen2.smart_resize(h, w, factor, least, most)])
videos = []
while len(videos) < 100:
    t, h, w = 1 + side(800), side(2000), side(2000)
    least, most = [(4096, 25165824), (131072, 786432)][len(videos) % 2]
    try:
        videos.append([t, h, w, least, most, *qwen3.smart_resize(t, h, w, 2, 32, least, most)])
    except ValueError:
        pass


def sampled(rules, total, rate, fps, least, most):
    self = types.SimpleNamespace(fps=fps, num_frames=None, min_frames=least, max_frames=most, temporal_patch_size=2)
    metadata = types.SimpleNamespace(total_num_frames=total, fps=rate)
    return [int(i) for i in rules.sample_frames(self, metadata)]


samples = []
for total, rate, fps, least, most in [(300, 30, 2, 4, 768), (301, 30, 2, 4, 768), (1226, 23.976, 2, 4, 768), (7, 30, 2, 4, 768),
                                      (4, 25, 2, 4, 768), (2, 25, 2, 4, 768), (1000, 24, 2, 4, 16), (999, 29.97, 1.5, 4, 20),
                                      (100, 10, 10, 4, 768), (90000, 60, 2, 4, 768), (50, 30, 1, 4, 7), (3, 30, 2, 4, 768)]:
    args = (total, rate, fps, least, most)
    samples.append(dict(zip(("total", "rate", "fps", "min_frames", "max_frames"), args)) |
                   dict(all_frames=sampled(qwen3, *args), frame=sampled(qwen2, *args)))
with open("rules.json", "w") as file:
    json.dump(dict(pictures=pictures, videos=videos, samples=samples), file)
