#include <algorithm>

#include "aten.h"
#include "check.h"
#include "vae/kl_names.h"

namespace intarsia {
namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

const std::vector<int64_t>* find(const Shapes& shapes, const std::string& name) {
  const auto found = shapes.find(name);
  return found == shapes.end() ? nullptr : &found->second;
}

// Extent `axis` of a convolution's weight.
int64_t extent(const Shapes& shapes, const std::string& name, size_t axis) {
  const auto* shape = find(shapes, name);
  check(shape != nullptr, "this is no AutoencoderKL: tensor '", name, "' is missing");
  check(shape->size() == 4, "tensor '", name, "' has ", shape->size(),
        " axes; a convolution's weight has 4");
  check((*shape)[axis] > 0, "tensor '", name, "' is empty");
  return (*shape)[axis];
}

// One side of the network: its widths in the order of its blocks, and resnets in each block.
struct Side {
  std::vector<int64_t> widths;
  int64_t resnets = 0;
};

std::string resnet(const std::string& blocks, int64_t block, int64_t layer) {
  return blocks + "." + std::to_string(block) + ".resnets." + std::to_string(layer) +
         ".conv1.weight";
}

int64_t count_resnets(const Shapes& shapes, const std::string& blocks, int64_t block) {
  int64_t count = 0;
  while (find(shapes, resnet(blocks, block, count)) != nullptr) ++count;
  return count;
}

Side side_of(const Shapes& shapes, const std::string& blocks) {
  Side side{{}, count_resnets(shapes, blocks, 0)};
  for (int64_t block = 0; find(shapes, resnet(blocks, block, 0)) != nullptr; ++block) {
    side.widths.push_back(extent(shapes, resnet(blocks, block, 0), 0));
    const int64_t resnets = count_resnets(shapes, blocks, block);
    check(resnets == side.resnets, blocks, ".", block, " has ", resnets, " resnets, but ", blocks,
          ".0 has ", side.resnets, "; an AutoencoderKL has as many in every block");
  }
  return side;
}

// Both sides must describe one config; one of them may be absent.
void merge_sides(KlShape& kl, const Shapes& shapes) {
  const Side encoder = side_of(shapes, "encoder.down_blocks");
  Side decoder = side_of(shapes, "decoder.up_blocks");
  std::reverse(decoder.widths.begin(), decoder.widths.end());
  check(!encoder.widths.empty() || !decoder.widths.empty(),
        "this is no AutoencoderKL: it has neither encoder.down_blocks.0.resnets.0 nor "
        "decoder.up_blocks.0.resnets.0");
  if (!encoder.widths.empty() && !decoder.widths.empty())
    check(encoder.widths == decoder.widths && encoder.resnets + 1 == decoder.resnets,
          "encoder (widths ", encoder.widths, ", ", encoder.resnets,
          " resnets a block) and decoder (widths ", decoder.widths, ", ", decoder.resnets,
          " resnets a block) are not those of one AutoencoderKL");
  kl.block_out_channels = encoder.widths.empty() ? decoder.widths : encoder.widths;
  kl.layers_per_block = encoder.widths.empty() ? decoder.resnets - 1 : encoder.resnets;
}

int64_t latent_channels(const Shapes& shapes) {
  if (find(shapes, "decoder.conv_in.weight") != nullptr)
    return extent(shapes, "decoder.conv_in.weight", 1);
  const int64_t twice = extent(shapes, "encoder.conv_out.weight", 0);
  check(twice % 2 == 0, "encoder.conv_out yields ", twice,
        " channels; means and log-variances need an even number");
  return twice / 2;
}

int64_t guess_groups(const std::vector<int64_t>& widths) {
  for (int64_t groups = 32; groups > 1; groups /= 2)
    if (std::all_of(widths.begin(), widths.end(), [&](int64_t w) { return w % groups == 0; }))
      return groups;
  return 1;
}

}  // namespace

KlShape infer_kl_shape(const Shapes& shapes) {
  const bool encoder = find(shapes, "encoder.conv_in.weight") != nullptr;
  const bool decoder = find(shapes, "decoder.conv_out.weight") != nullptr;
  const auto has = [&](const std::string& name) { return find(shapes, name) != nullptr; };
  KlShape kl;
  merge_sides(kl, shapes);
  check(encoder || decoder,
        "this is no AutoencoderKL: it has neither encoder.conv_in nor "
        "decoder.conv_out");
  kl.latent_channels = latent_channels(shapes);
  kl.in_channels = encoder ? extent(shapes, "encoder.conv_in.weight", 1)
                           : extent(shapes, "decoder.conv_out.weight", 0);
  kl.out_channels = decoder ? extent(shapes, "decoder.conv_out.weight", 0) : kl.in_channels;
  kl.quant_conv = has("quant_conv.weight");
  kl.post_quant_conv = has("post_quant_conv.weight");
  kl.mid_attention = has("encoder.mid_block.attentions.0.to_q.weight") ||
                     has("decoder.mid_block.attentions.0.to_q.weight");
  kl.norm_num_groups = guess_groups(kl.block_out_channels);
  return kl;
}

}  // namespace intarsia
