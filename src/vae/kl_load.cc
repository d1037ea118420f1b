#include "vae/kl_load.h"

#include <algorithm>
#include <set>

#include "aten.h"
#include "check.h"
#include "io/faults.h"
#include "vae/kl_names.h"

namespace intarsia::vae {
namespace {

bool belongs_to(const std::string& name, Part part) {
  const bool decoder = name.starts_with("decoder.") || name.starts_with("post_quant_conv.");
  const bool encoder = name.starts_with("encoder.") || name.starts_with("quant_conv.");
  return part == Part::kBoth ? decoder || encoder : part == Part::kDecoder ? decoder : encoder;
}

struct Target {
  at::ScalarType dtype;
  at::Device device;
};

/// Reads weights by name in the arithmetic's dtype, and collects what is wrong with them.
class Source : public WeightSource {
 public:
  Source(const Checkpoint& checkpoint, const Target& target)
      : checkpoint_(checkpoint), target_(target) {}

  at::Tensor take(const std::string& name, std::vector<int64_t> shape) override {
    taken_.insert(name);
    if (!checkpoint_.contains(name)) {
      faults_.push_back("missing " + name);
      return at::zeros(shape);
    }
    const auto& stored = checkpoint_.info(name).shape;
    if (!same_but_for_ones(stored, shape)) {
      faults_.push_back(c10::str(name, " has the shape ", at::IntArrayRef(stored), ", expected ",
                                 at::IntArrayRef(shape)));
      return at::zeros(shape);
    }
    const at::Tensor stored_weight = checkpoint_.read(name);
    if (!stored_weight.is_floating_point()) {
      faults_.push_back(c10::str(name, " is stored as ", c10::toString(stored_weight.scalar_type()),
                                 ", not as floating point"));
      return at::zeros(shape);
    }
    return convert(name, stored_weight.view(shape));
  }

  /// Throws if anything was wrong, or weights of this part are left over.
  void finish(Part part) {
    for (const std::string& name : checkpoint_.names())
      if (belongs_to(name, part) && !taken_.contains(name))
        faults_.push_back("surplus " + name + ", which the config does not know");
    io::check_faults(checkpoint_.path().string(), faults_);
  }

  int64_t bytes() const { return bytes_; }

 private:
  /// Old attention weights are 1×1 convolutions: [C, C, 1, 1] or [C, C, 1].
  static bool same_but_for_ones(std::vector<int64_t> a, const std::vector<int64_t>& b) {
    while (a.size() > b.size() && a.back() == 1) a.pop_back();
    return a == b;
  }

  at::Tensor convert(const std::string& name, at::Tensor x) {
    x = x.to(at::kFloat);
    if (!at::isfinite(x).all().item<bool>())
      faults_.push_back(name + " holds NaN or infinite values");
    x = x.to(target_.device, target_.dtype);
    bytes_ += int64_t(x.nbytes());
    return x.dim() == 4 ? x.contiguous(at::MemoryFormat::ChannelsLast) : x;
  }

  const Checkpoint& checkpoint_;
  Target target_;
  std::set<std::string> taken_;
  std::vector<std::string> faults_;
  int64_t bytes_ = 0;
};

at::ScalarType arithmetic(const KlConfig& config, const LoadOptions& options,
                          std::vector<std::string>& notes) {
  const auto asked = options.dtype;
  check(asked == at::kFloat || asked == at::kBFloat16 || asked == at::kHalf, "arithmetic in ",
        c10::toString(asked), " is not supported; use float32, bfloat16 or float16");
  if (asked != at::kHalf) return asked;
  if (config.force_upcast) {
    notes.push_back("float16 overflows in this model (force_upcast): float32 is used");
    return at::kFloat;
  }
  if (options.device.is_cpu()) {
    notes.push_back("float16 is slow and narrow on a CPU: float32 is used");
    return at::kFloat;
  }
  return asked;
}

KlConfig config_from_shapes(const Checkpoint& checkpoint, std::vector<std::string>& notes) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const std::string& name : checkpoint.names()) shapes[name] = checkpoint.info(name).shape;
  const KlShape shape = infer_kl_shape(shapes);
  KlConfig c;
  c.block_out_channels = shape.block_out_channels;
  c.layers_per_block = shape.layers_per_block;
  c.latent_channels = shape.latent_channels;
  c.in_channels = shape.in_channels;
  c.out_channels = shape.out_channels;
  c.norm_num_groups = shape.norm_num_groups;
  c.use_quant_conv = shape.quant_conv;
  c.use_post_quant_conv = shape.post_quant_conv;
  c.mid_block_add_attention = shape.mid_attention;
  // A single file says nothing of scaling; 16 latent channels are of FLUX's and SD3's kind.
  if (c.latent_channels == 16) {
    c.scaling_factor = 0.3611;
    c.shift_factor = 0.1159;
    c.sample_size = 1024;
  }
  notes.push_back(c10::str("no config.json: the model was read off its tensors; norms of ",
                           c.norm_num_groups, " groups and, for scaled latents, scaling ",
                           c.scaling_factor, c.shift_factor ? ", shift 0.1159 (FLUX)" : " (SD)",
                           " are assumed"));
  return c;
}

/// The config.json of a folder, or of its vae/; empty if there is none.
std::filesystem::path config_in(const std::filesystem::path& folder) {
  for (const auto& file : {folder / "config.json", folder / "vae" / "config.json"})
    if (std::filesystem::is_regular_file(file)) return file;
  return {};
}

}  // namespace

KlConfig find_kl_config(const std::filesystem::path& model, std::vector<std::string>* notes) {
  if (model.extension() == ".json" && model.string().find(".index.") == std::string::npos)
    return read_kl_config(model);
  if (const auto file = config_in(model); !file.empty()) return read_kl_config(file);
  const Checkpoint stored = Checkpoint::open(model);
  if (!stored.config_path().empty()) return read_kl_config(stored.config_path());
  std::vector<std::string> heard;
  return config_from_shapes(stored.renamed(kl_rename(stored.names(), true)),
                            notes ? *notes : heard);
}

AutoencoderKL AutoencoderKL::load(const std::filesystem::path& path, const LoadOptions& options) {
  const Checkpoint stored = Checkpoint::open(path);
  const Checkpoint checkpoint = stored.renamed(kl_rename(stored.names(), true));
  std::vector<std::string> notes;
  const bool guessed = stored.config_path().empty();
  const KlConfig config =
      guessed ? config_from_shapes(checkpoint, notes) : read_kl_config(stored.config_path());
  check(!guessed || config.norm_num_groups == 32, path.string(),
        " has no config.json, and its widths do not divide into the usual 32 groups of norms; the "
        "number of groups is in no tensor: put a config.json with norm_num_groups beside it");
  AutoencoderKL model = load(checkpoint, config, options);
  auto weights = std::make_shared<Weights>(*model.weights_);
  weights->notes.insert(weights->notes.begin(), notes.begin(), notes.end());
  model.weights_ = std::move(weights);
  return model;
}

AutoencoderKL AutoencoderKL::load(const Checkpoint& checkpoint, const KlConfig& config,
                                  const LoadOptions& options) {
  auto weights = std::make_shared<Weights>();
  weights->config = config;
  weights->device = options.device;
  weights->dtype = arithmetic(config, options, weights->notes);
  Source source(checkpoint, {weights->dtype, weights->device});
  if (options.part != Part::kEncoder) weights->decoder = build_decoder(config, source);
  if (options.part != Part::kDecoder) weights->encoder = build_encoder(config, source);
  source.finish(options.part);
  weights->bytes = source.bytes();
  AutoencoderKL model;
  model.weights_ = std::move(weights);
  return model;
}

const KlConfig& AutoencoderKL::config() const { return weights_->config; }
at::ScalarType AutoencoderKL::dtype() const { return weights_->dtype; }
int64_t AutoencoderKL::weight_bytes() const { return weights_->bytes; }
const std::vector<std::string>& AutoencoderKL::notes() const { return weights_->notes; }

}  // namespace intarsia::vae
