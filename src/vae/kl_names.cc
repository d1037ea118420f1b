#include "vae/kl_names.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "aten.h"
#include "check.h"

namespace intarsia {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& name) {
  Words words(1);
  for (const char c : name) {
    if (c == '.')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

std::string join(const Words& words) {
  std::string name;
  for (const auto& word : words) name += (name.empty() ? "" : ".") + word;
  return name;
}

std::optional<int64_t> index_of(const std::string& word) {
  int32_t index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  const bool whole = error == std::errc() && end == word.data() + word.size() && index >= 0;
  return whole ? std::optional<int64_t>(index) : std::nullopt;
}

// `tail` behind `head`.
Words with_tail(Words head, const Words& words, size_t from) {
  head.insert(head.end(), words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
  return head;
}

const std::map<std::string, Words>& attention_names() {
  static const std::map<std::string, Words> names = {
      {"norm", {"group_norm"}},
      {"q", {"to_q"}},
      {"k", {"to_k"}},
      {"v", {"to_v"}},
      {"query", {"to_q"}},
      {"key", {"to_k"}},
      {"value", {"to_v"}},
      {"proj_attn", {"to_out", "0"}},
      {"proj_out", {"to_out", "0"}},
  };
  return names;
}

// side.mid.{block_1, block_2, attn_1}.…
std::optional<Words> mid_name(const Words& words) {
  if (words.size() < 4) return std::nullopt;
  if (words[2] == "block_1" || words[2] == "block_2") {
    const std::string place = words[2] == "block_1" ? "0" : "1";
    return with_tail({words[0], "mid_block", "resnets", place}, words, 3);
  }
  const auto part = attention_names().find(words[3]);
  if (words[2] != "attn_1" || part == attention_names().end()) return std::nullopt;
  Words name = {words[0], "mid_block", "attentions", "0"};
  name.insert(name.end(), part->second.begin(), part->second.end());
  return with_tail(name, words, 4);
}

// side.{down, up}.level.{block.j, downsample, upsample}.…; LDM counts the decoder's levels from the
// other end.
std::optional<Words> level_name(const Words& words, int64_t levels) {
  const bool up = words[1] == "up";
  const auto level = words.size() < 6 ? std::nullopt : index_of(words[2]);
  if (!level || *level >= levels) return std::nullopt;
  Words head = {words[0], up ? "up_blocks" : "down_blocks",
                std::to_string(up ? levels - 1 - *level : *level)};
  if (words[3] == (up ? "upsample" : "downsample"))
    return with_tail(with_tail(head, {up ? "upsamplers" : "downsamplers", "0"}, 0), words, 4);
  if (words[3] != "block" || !index_of(words[4])) return std::nullopt;
  Words name = with_tail(with_tail(head, {"resnets"}, 0), words, 4);
  std::replace(name.begin() + 5, name.end(), std::string("nin_shortcut"),
               std::string("conv_shortcut"));
  return name;
}

// …attentions.0.{query, key, value, proj_attn}.…
Words new_attention_name(Words words) {
  const auto place = std::find(words.begin(), words.end(), "attentions");
  if (words.end() - place < 4) return words;
  const auto part = attention_names().find(*(place + 2));
  if (part == attention_names().end()) return words;
  Words name(words.begin(), place + 2);
  name.insert(name.end(), part->second.begin(), part->second.end());
  return with_tail(name, words, name.size() - part->second.size() + 1);
}

// Levels of one side: one more than the largest index after side.kind.
int64_t levels_of(const std::vector<Words>& names, const std::string& side,
                  const std::string& kind) {
  int64_t levels = 0;
  for (const auto& words : names)
    if (words.size() > 2 && words[0] == side && words[1] == kind)
      levels = std::max(levels, index_of(words[2]).value_or(-1) + 1);
  return levels;
}

std::string diffusers_name(const Words& words, int64_t down, int64_t up) {
  const bool sided = words.size() > 2 && (words[0] == "encoder" || words[0] == "decoder");
  if (!sided) return join(words);
  std::optional<Words> name;
  if (words[1] == "mid") name = mid_name(words);
  if (words[1] == "down") name = level_name(words, down);
  if (words[1] == "up") name = level_name(words, up);
  if (words[1] == "norm_out") name = with_tail({words[0], "conv_norm_out"}, words, 2);
  return join(name ? *name : new_attention_name(words));
}

// Where the VAE is: the prefix before its first convolution.
std::string prefix_of(const std::vector<std::string>& names) {
  for (const std::string prefix : {"first_stage_model.", "vae.", ""})
    for (const std::string side : {"encoder", "decoder"})
      if (std::find(names.begin(), names.end(), prefix + side + ".conv_in.weight") != names.end())
        return prefix;
  return "";
}

bool is_vae_part(const std::string& name) {
  const auto first = name.substr(0, name.find('.'));
  return first == "encoder" || first == "decoder" || first == "quant_conv" ||
         first == "post_quant_conv";
}

}  // namespace

std::map<std::string, std::string> kl_rename(const std::vector<std::string>& names,
                                             bool drop_rest) {
  const std::string prefix = prefix_of(names);
  std::map<std::string, std::string> rename;
  std::map<std::string, Words> parts;
  for (const auto& name : names) {
    const bool inside = name.starts_with(prefix) && is_vae_part(name.substr(prefix.size()));
    if (inside)
      parts[name] = split(name.substr(prefix.size()));
    else
      rename[name] = drop_rest ? "" : name;
  }
  std::vector<Words> all;
  for (const auto& [name, words] : parts) all.push_back(words);
  const int64_t down = levels_of(all, "encoder", "down");
  const int64_t up = levels_of(all, "decoder", "up");
  for (const auto& [name, words] : parts) rename[name] = diffusers_name(words, down, up);
  return rename;
}

at::Tensor as_linear_weight(const at::Tensor& weight, const std::string& name) {
  const bool flat =
      weight.dim() >= 2 && weight.dim() <= 4 && weight.numel() == weight.size(0) * weight.size(1);
  check(flat, "tensor '", name, "' has shape ", weight.sizes(),
        "; an attention's weight is [out, in], [out, in, 1] or [out, in, 1, 1]");
  return weight.reshape({weight.size(0), weight.size(1)});
}

}  // namespace intarsia
