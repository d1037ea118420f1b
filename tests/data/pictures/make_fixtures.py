"""Writes the pictures that tests/io reads: python make_fixtures.py (pillow, numpy).

NAME is the picture, NAME.npy the RGB that it must become: what Pillow makes of it
(Image.open, exif_transpose, convert("RGB")) except where Pillow drops alpha, precision or profile,
which is computed here. PNGs that Pillow cannot write are put together from chunks.
"""
import io
import os
import struct
import zlib

import numpy as np
from PIL import Image, ImageCms, ImageOps

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random = np.random.default_rng(1)


def scene(height, width, channels=3, peak=255):
    """Smooth colours with some noise, every channel different."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    waves = [0.5 + 0.45 * np.sin((c + 2) * x / 9 + (3 - c) * y / 7 + c) for c in range(channels)]
    picture = np.stack(waves, -1) + random.normal(0, 0.02, (height, width, channels))
    return np.clip(picture * peak, 0, peak).round().astype(np.uint16 if peak > 255 else np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(samples, kind, bits, extra=b"", interlaced=False, end=b""):
    """A PNG of samples [H, W, C]; kind: PNG's colour type."""
    height, width, _ = samples.shape

    def rows(part):
        if part.size == 0:
            return b""
        flat = part.reshape(part.shape[0], -1)
        if bits == 16:
            lines = [r.astype(">u2").tobytes() for r in flat]
        elif bits == 8:
            lines = [r.astype(np.uint8).tobytes() for r in flat]
        else:
            planes = (flat[:, :, None] >> np.arange(bits - 1, -1, -1)) & 1
            lines = [np.packbits(r.reshape(-1).astype(np.uint8)).tobytes() for r in planes]
        return b"".join(b"\0" + line for line in lines)

    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
              (1, 0, 2, 1)]
    data = b"".join(rows(samples[t::v, l::h]) for t, l, v, h in passes) if interlaced else rows(samples)
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra +
            chunk(b"IDAT", zlib.compress(data, 9)) + end + chunk(b"IEND", b""))


def keep(name, data, expected=None):
    with open(name, "wb") as file:
        file.write(data)
    if expected is None:
        expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
    np.save(name + ".npy", expected)


def jpeg(picture, **options):
    out = io.BytesIO()
    picture.save(out, "JPEG", **options)
    return out.getvalue()


def on_white(colour, alpha, peak):
    colour, alpha = colour.astype(np.int64), alpha.astype(np.int64)[..., None]
    return (colour * alpha + peak * (peak - alpha) + peak // 2) // peak


def orientation(value, order="<"):
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return (mark + struct.pack(order + "IH", 8, 2) +
            struct.pack(order + "HHII", 0x0100, 4, 1, 99) +
            struct.pack(order + "HHIHH", 0x0112, 3, 1, value, 0) + struct.pack(order + "I", 0))


# Kinds of PNG
rgb = scene(13, 17)
keep("rgb.png", png(rgb, 2, 8))
keep("rgb_gamma.png", png(rgb, 2, 8, chunk(b"gAMA", struct.pack(">I", 100000))))
keep("interlaced.png", png(rgb, 2, 8, interlaced=True))
grey = scene(11, 9, 1)
keep("grey.png", png(grey, 0, 8))
for bits in (1, 2, 4):
    keep(f"grey{bits}.png", png(grey >> (8 - bits), 0, bits))
keep("grey1_interlaced.png", png(grey >> 7, 0, 1, interlaced=True))
grey_alpha = scene(11, 9, 2)
keep("grey_alpha.png", png(grey_alpha, 4, 8),
     on_white(grey_alpha[..., :1].repeat(3, -1), grey_alpha[..., 1], 255).astype(np.uint8))
rgba = scene(13, 17, 4)
rgba[0, :3, 3] = 0, 1, 255
keep("rgba.png", png(rgba, 6, 8), on_white(rgba[..., :3], rgba[..., 3], 255).astype(np.uint8))
transparent = rgb.copy()
transparent[3:5, 4:9] = 10, 20, 30
cut = transparent.copy()
cut[3:5, 4:9] = 255
keep("rgb_trns.png", png(transparent, 2, 8, chunk(b"tRNS", struct.pack(">HHH", 10, 20, 30))), cut)
palette = random.integers(0, 256, (16, 3)).astype(np.uint8)
index = random.integers(0, 16, (7, 10, 1))
keep("palette.png", png(index, 3, 4, chunk(b"PLTE", palette.tobytes())))
alphas = random.integers(0, 256, 9).astype(np.uint8)  # the other entries are opaque
full = np.concatenate([alphas, np.full(7, 255, np.uint8)])
keep("palette_trns.png",
     png(index, 3, 8, chunk(b"PLTE", palette.tobytes()) + chunk(b"tRNS", alphas.tobytes())),
     on_white(palette[index[..., 0]], full[index[..., 0]], 255).astype(np.uint8))
deep = scene(10, 12, 3, 65535)
keep("rgb16.png", png(deep, 2, 16), deep.astype(np.int32))
keep("rgb16_interlaced.png", png(deep, 2, 16, interlaced=True), deep.astype(np.int32))
deep_grey = scene(10, 12, 1, 65535)
keep("grey16.png", png(deep_grey, 0, 16), deep_grey.repeat(3, -1).astype(np.int32))
deep_alpha = scene(10, 12, 4, 65535)
keep("rgba16.png", png(deep_alpha, 6, 16),
     on_white(deep_alpha[..., :3], deep_alpha[..., 3], 65535).astype(np.int32))
keep("one.png", png(scene(1, 1), 2, 8))
keep("odd.png", png(scene(5, 7), 2, 8, interlaced=True))
keep("wide.png", png(scene(1, 300), 2, 8))

# Orientations; the tag is little-endian in JPEGs, big-endian in PNGs, in front of or behind pixels
for value in range(1, 9):
    exif = b"Exif\0\0" + orientation(value)
    keep(f"turned{value}.jpg", jpeg(Image.fromarray(scene(19, 30)), quality=90, exif=exif))
keep("turned6.png", png(scene(5, 7), 2, 8, chunk(b"eXIf", orientation(6, ">"))))
keep("turned8_behind.png", png(scene(5, 7), 2, 8, end=chunk(b"eXIf", orientation(8, ">"))))

# Kinds of JPEG
photo = Image.fromarray(scene(45, 61))
keep("420.jpg", jpeg(photo, quality=85, subsampling=2))
keep("422.jpg", jpeg(photo, quality=85, subsampling=1))
keep("444.jpg", jpeg(photo, quality=95, subsampling=0))
keep("progressive.jpg", jpeg(photo, quality=85, progressive=True))
keep("restart.jpg", jpeg(photo, quality=85, restart_marker_blocks=3))
keep("rgb.jpg", jpeg(photo, quality=90, keep_rgb=True))
keep("grey.jpg", jpeg(photo.convert("L"), quality=85))
keep("one.jpg", jpeg(Image.fromarray(scene(1, 1))))
keep("odd.jpg", jpeg(Image.fromarray(scene(5, 7))))
cmyk = Image.fromarray(scene(21, 33, 4), "CMYK")
keep("cmyk.jpg", jpeg(cmyk, quality=95, subsampling=0))
# Pillow writes no YCCK: with the transform in the Adobe marker set to 2 the same data are YCCK.
ycck = bytearray(jpeg(cmyk, quality=95, subsampling=0))
at = ycck.index(b"Adobe")
ycck[at + 11] = 2
keep("ycck.jpg", bytes(ycck))


# Profiles: sRGB's curve with swapped primaries, and a grey one with another gamma
def tag_xyz(values):
    return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in values)


def tag_gamma(gamma):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"


def profile(space, tags):
    text = b"Test " + space.strip() + b"\0"
    description = b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + b"\0" * (78 + 8)
    tags = [(b"desc", description), (b"wtpt", tag_xyz((0.9642, 1, 0.8249)))] + tags
    at, table, body = 128 + 4 + 12 * len(tags), b"", b""
    for name, data in tags:
        data += b"\0" * (-len(data) % 4)
        table += struct.pack(">4sII", name, at + len(body), len(data))
        body += data
    size = at + len(body)
    header = struct.pack(">I4sI4s4s4s", size, b"lcms", 0x02100000, b"mntr", space, b"XYZ ")
    header += struct.pack(">6H", 2020, 1, 1, 0, 0, 0) + b"acsp" + b"\0" * 28
    header += b"".join(struct.pack(">i", round(v * 65536)) for v in (0.9642, 1, 0.8249))
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


red, green, blue = (0.4360, 0.2225, 0.0139), (0.3851, 0.7169, 0.0971), (0.1431, 0.0606, 0.7139)
swapped = profile(b"RGB ", [(b"rXYZ", tag_xyz(green)), (b"gXYZ", tag_xyz(red)),
                            (b"bXYZ", tag_xyz(blue))] +
                  [(c + b"TRC", tag_gamma(2.2)) for c in (b"r", b"g", b"b")])
plain_grey = profile(b"GRAY", [(b"kTRC", tag_gamma(1.4))])
srgb = ImageCms.createProfile("sRGB")


def through(picture, icc):
    return np.asarray(ImageCms.profileToProfile(picture, io.BytesIO(icc), srgb, outputMode="RGB"))


swapped_jpeg = jpeg(photo, quality=95, icc_profile=swapped)
keep("swapped.jpg", swapped_jpeg, through(Image.open(io.BytesIO(swapped_jpeg)), swapped))
icc_chunk = lambda icc: chunk(b"iCCP", b"test\0\0" + zlib.compress(icc))
keep("swapped_alpha.png", png(rgba, 6, 8, icc_chunk(swapped)),
     on_white(through(Image.fromarray(rgba[..., :3]), swapped), rgba[..., 3], 255).astype(np.uint8))
keep("grey_profile.png", png(grey, 0, 8, icc_chunk(plain_grey)),
     through(Image.fromarray(grey[..., 0]), plain_grey))
keep("srgb.jpg", jpeg(photo, quality=95, icc_profile=ImageCms.ImageCmsProfile(srgb).tobytes()))
keep("broken_profile.jpg", jpeg(photo, quality=95, icc_profile=b"no profile" * 20))
keep("broken_profile.png", png(rgb, 2, 8, icc_chunk(b"no profile" * 20)))
keep("other_inks.jpg", jpeg(photo.convert("L"), quality=95, icc_profile=swapped))
