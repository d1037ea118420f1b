"""Features of shapes-vl's scenes as transformers gives them, for tests/vision/shapes_test.cc.
python make_shapes_features.py ../../../assets/shapes-vl   (torch, transformers, pillow, safetensors)
"""
import glob
import os
import sys

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from transformers import Qwen3VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

here = os.path.dirname(os.path.abspath(__file__))
folder = sys.argv[1]
torch.set_num_threads(1)
visual = Qwen3VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).model.visual.eval()
processor = Qwen2VLImageProcessorPil.from_pretrained(folder)
out = {}
for path in sorted(glob.glob(os.path.join(folder, "scenes", "*.png"))):
    name = os.path.basename(path)[:-4]
    got = processor(images=[Image.open(path).convert("RGB")], return_tensors="pt")
    with torch.no_grad():
        result = visual(got["pixel_values"].float(), grid_thw=got["image_grid_thw"])
    out[f"{name}.main"] = result.pooler_output.contiguous()
    for k, level in enumerate(result.deepstack_features):
        out[f"{name}.deepstack.{k}"] = level.contiguous()
save_file(out, os.path.join(here, "shapes_features.safetensors"))
print({k: tuple(v.shape) for k, v in out.items()})
