#include <intarsia/packing.h>

#include <algorithm>
#include <numeric>

#include "check.h"

namespace intarsia {
namespace {

void check_items(std::span<const PackItem> items, int64_t block_size) {
  check(block_size >= 1, "blocks of ", block_size, " patches; use 1 or more");
  for (size_t i = 0; i < items.size(); ++i) {
    check(items[i].frames >= 1 && items[i].frame_patches >= 1, "item ", i, " has ", items[i].frames,
          " frames of ", items[i].frame_patches, " patches; it must have some");
    check(items[i].frame_patches <= block_size, "item ", i, " has ", items[i].frame_patches,
          items[i].frames > 1 ? " patches a frame" : " patches", ", more than a block of ",
          block_size, "; use blocks of ", (items[i].frame_patches + 127) / 128 * 128,
          " or more, or no packing");
  }
}

/// A block being filled.
struct Bin {
  int64_t used = 0;
  bool closed = false;  ///< holds a video
  std::vector<int64_t> pictures;
};

/// Pictures by size, descending; equal ones in order.
std::vector<int64_t> by_size(std::span<const PackItem> items) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].frames == 1) order.push_back(int64_t(i));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return items[a].frame_patches > items[b].frame_patches;
  });
  return order;
}

void place_pictures(std::span<const PackItem> items, int64_t block_size, std::vector<Bin>& bins) {
  for (const int64_t i : by_size(items)) {
    const int64_t size = items[i].frame_patches;
    auto bin = std::find_if(bins.begin(), bins.end(),
                            [&](const Bin& b) { return !b.closed && b.used + size <= block_size; });
    if (bin == bins.end()) bin = bins.insert(bins.end(), Bin{});
    bin->used += size;
    bin->pictures.push_back(i);
  }
}

void add_pictures(const std::vector<Bin>& bins, std::span<const PackItem> items, Packing& p) {
  for (size_t b = 0; b < bins.size(); ++b) {
    auto pictures = bins[b].pictures;
    std::sort(pictures.begin(), pictures.end());
    int64_t offset = 0;
    for (const int64_t i : pictures) {
      p.pieces.push_back({i, 0, 1, int64_t(b), offset});
      offset += items[i].frame_patches;
    }
  }
}

void add_videos(std::span<const PackItem> items, std::vector<Bin>& bins, Packing& p) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].frames == 1) continue;
    const int64_t at_once = p.block_size / items[i].frame_patches;
    for (int64_t f = 0; f < items[i].frames; f += at_once) {
      const int64_t count = std::min(at_once, items[i].frames - f);
      p.pieces.push_back({int64_t(i), f, count, int64_t(bins.size()), 0});
      bins.push_back({count * items[i].frame_patches, true, {}});
    }
  }
}

int64_t patches_of(const Piece& piece, std::span<const PackItem> items) {
  return piece.frames * items[piece.item].frame_patches;
}

}  // namespace

Packing pack_first_fit(std::span<const PackItem> items, int64_t block_size, int64_t blocks) {
  check_items(items, block_size);
  check(blocks >= 0, "packing into ", blocks, " blocks; use 0 (as many as it takes) or more");
  Packing p{.block_size = block_size};
  std::vector<Bin> bins;
  place_pictures(items, block_size, bins);
  add_pictures(bins, items, p);
  add_videos(items, bins, p);
  std::sort(p.pieces.begin(), p.pieces.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.item, a.first_frame) < std::pair(b.item, b.first_frame);
  });
  const auto needed = int64_t(bins.size());
  check(blocks == 0 || needed <= blocks, "the items take ", needed, " blocks of ", block_size,
        " patches, there are ", blocks, "; use a larger bucket");
  p.blocks = blocks == 0 ? needed : blocks;
  return p;
}

Packing renumber(const Packing& packing, std::span<const int64_t> order) {
  check(int64_t(order.size()) == packing.blocks, "an order of ", order.size(), " blocks for ",
        packing.blocks);
  std::vector<int64_t> place(order.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    check(order[i] >= 0 && order[i] < packing.blocks && place[order[i]] < 0, "block ", order[i],
          " is not one of ", packing.blocks, ", or comes twice");
    place[order[i]] = int64_t(i);
  }
  Packing p = packing;
  for (Piece& piece : p.pieces) piece.block = place[piece.block];
  return p;
}

std::vector<std::vector<Range>> segments(const Packing& packing, std::span<const PackItem> items) {
  std::vector<std::vector<Range>> all(packing.blocks);
  for (const Piece& piece : packing.pieces) {
    const int64_t size = items[piece.item].frame_patches;
    for (int64_t f = 0; f < piece.frames; ++f)
      all[piece.block].push_back({piece.offset + f * size, piece.offset + (f + 1) * size});
  }
  for (auto& block : all)
    std::sort(block.begin(), block.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return all;
}

Bounds bounds(const Packing& packing, std::span<const PackItem> items) {
  const auto size = size_t(packing.blocks * packing.block_size);
  Bounds b{std::vector<int32_t>(size, 0), std::vector<int32_t>(size, 0)};
  const auto all = segments(packing, items);
  for (size_t block = 0; block < all.size(); ++block)
    for (const Range& s : all[block])
      for (int64_t i = s.begin; i < s.end; ++i) {
        b.min[block * packing.block_size + i] = int32_t(s.begin);
        b.max[block * packing.block_size + i] = int32_t(s.end);
      }
  return b;
}

Unpack unpack_rows(const Packing& packing, std::span<const PackItem> items, int64_t merge) {
  check(merge >= 1 && packing.block_size % merge == 0, "blocks of ", packing.block_size,
        " patches do not divide by the ", merge, " patches of an output row");
  const int64_t rows_a_block = packing.block_size / merge;
  Unpack unpack;
  for (const Piece& piece : packing.pieces) {
    check(items[piece.item].frame_patches % merge == 0, "item ", piece.item, " has ",
          items[piece.item].frame_patches, " patches a frame, which do not divide by ", merge);
    const int64_t first = piece.block * rows_a_block + piece.offset / merge;
    for (int64_t k = 0; k < patches_of(piece, items) / merge; ++k) unpack.rows.push_back(first + k);
  }
  unpack.valid = int64_t(unpack.rows.size());
  unpack.rows.resize(size_t(packing.blocks * rows_a_block), packing.blocks * rows_a_block - 1);
  return unpack;
}

double Cost::of(const PackItem& item) const {
  const auto s = double(item.frame_patches);
  return double(item.frames) * (quadratic * s * s + linear * s) + constant;
}

std::vector<int64_t> deal_blocks(const Packing& packing, std::span<const PackItem> items,
                                 int64_t ranks, const Cost& cost) {
  check(ranks >= 1 && packing.blocks % ranks == 0, packing.blocks,
        " blocks cannot be dealt out evenly to ", ranks, " ranks");
  std::vector<double> costs(packing.blocks, 0);
  for (const Piece& piece : packing.pieces)
    costs[piece.block] += cost.of({piece.frames, items[piece.item].frame_patches});
  std::vector<int64_t> dearest(packing.blocks);
  std::iota(dearest.begin(), dearest.end(), 0);
  std::stable_sort(dearest.begin(), dearest.end(),
                   [&](int64_t a, int64_t b) { return costs[a] > costs[b]; });
  const size_t room = size_t(packing.blocks / ranks);
  std::vector<std::vector<int64_t>> hands(ranks);
  std::vector<double> load(ranks, 0);
  for (const int64_t block : dearest) {
    int64_t to = -1;
    for (int64_t r = 0; r < ranks; ++r)
      if (hands[r].size() < room && (to < 0 || load[r] < load[to])) to = r;
    hands[to].push_back(block);
    load[to] += costs[block];
  }
  std::vector<int64_t> order;
  for (auto& hand : hands) {
    std::sort(hand.begin(), hand.end());
    order.insert(order.end(), hand.begin(), hand.end());
  }
  return order;
}

double block_efficiency(const Packing& packing, std::span<const PackItem> items) {
  double used = 0;
  for (const PackItem& item : items)
    used += double(item.frames) * double(item.frame_patches) * double(item.frame_patches);
  const auto size = double(packing.block_size);
  return packing.blocks == 0 ? 0 : used / (double(packing.blocks) * size * size);
}

}  // namespace intarsia
