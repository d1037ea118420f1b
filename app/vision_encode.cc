#include <intarsia/tensor_file.h>

#include <fstream>
#include <iostream>
#include <set>

#include "app/outputs.h"
#include "app/vision_common.h"
#include "aten.h"
#include "check.h"
#include "io/atomic_file.h"

namespace intarsia::app {
namespace {

using nlohmann::json;
using vision::Embedding;
using Named = std::vector<std::pair<std::string, at::Tensor>>;

at::Tensor grid_tensor(const vision::Grid& g) {
  return at::tensor({g.t, g.h, g.w}, at::kLong).unsqueeze(0);
}

void append(Named& to, const std::string& prefix, const Embedding& e) {
  to.emplace_back(prefix + "main", e.main.cpu());
  for (size_t k = 0; k < e.deepstack.size(); ++k)
    to.emplace_back(c10::str(prefix, "deepstack.", k), e.deepstack[k].cpu());
  to.emplace_back(prefix + "grid_thw", grid_tensor(e.grid));
}

/// One file an item in a folder; or one file with all, under their names.
std::vector<std::string> write(const Outputs& outputs, const std::vector<Input>& inputs,
                               const std::vector<Embedding>& all) {
  std::vector<std::string> files(inputs.size());
  Named together;
  make_folder(outputs);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].error.empty()) continue;
    const auto path = output_for(outputs, inputs[i].file, 0, 1);
    files[i] = path.string();
    if (!outputs.folder && path.extension() == ".npy") {
      write_npy(path, all[i].main.cpu());
    } else if (outputs.folder) {
      Named one;
      append(one, "", all[i]);
      write_safetensors(path, one);
    } else {
      append(together,
             inputs.size() == 1 ? "" : std::filesystem::path(inputs[i].file).stem().string() + ".",
             all[i]);
    }
  }
  if (!together.empty()) write_safetensors(outputs.path, together);
  return files;
}

json line_of(const Input& input, const Embedding& e, const std::string& file) {
  json j{{"input", input.file}};
  if (!e.error.empty()) {
    j["error"] = e.error;
    return j;
  }
  j.update({{"file", file},
            {"width", input.width},
            {"height", input.height},
            {"grid", {e.grid.t, e.grid.h, e.grid.w}},
            {"rows", e.main.size(0)},
            {"levels", 1 + e.deepstack.size()}});
  if (!input.times.empty()) j["times"] = input.times;
  return j;
}

/// Cosine of the mean rows of each pair.
std::string similarity(const std::vector<Input>& inputs, const std::vector<Embedding>& all) {
  std::vector<std::vector<std::string>> rows{{"cosine"}};
  std::vector<at::Tensor> means;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].error.empty()) continue;
    const at::Tensor mean = all[i].main.to(at::kFloat).mean(0);
    means.push_back(mean / mean.norm().clamp_min(1e-12));
    rows[0].push_back(std::filesystem::path(inputs[i].file).stem().string());
  }
  for (size_t i = 0; i < means.size(); ++i) {
    rows.push_back({rows[0][i + 1]});
    for (const at::Tensor& other : means)
      rows.back().push_back(number(means[i].dot(other).item<double>(), 3));
  }
  return table(rows);
}

std::string timings_of(const vision::Encoded& out) {
  std::vector<std::vector<std::string>> rows{
      {"rank", "busy s", "in collectives s", "sent", "peak of its process"}};
  for (size_t r = 0; r < out.ranks.size(); ++r)
    rows.push_back({std::to_string(r), number(out.ranks[r].busy, 2),
                    number(out.ranks[r].waiting, 2), bytes_text(out.ranks[r].bytes_sent),
                    bytes_text(out.ranks[r].peak_bytes)});
  return table(rows);
}

/// Prometheus' text format.
std::string metrics(const vision::Encoded& out, const std::vector<Embedding>& all,
                    const vision::VisionConfig& config, double seconds) {
  std::string text;
  const auto metric = [&](const std::string& name, const char* type, const std::string& help,
                          double value, const std::string& labels = "") {
    if (text.find("# TYPE " + name + " ") == std::string::npos)
      text += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
    text += name + labels + " " + c10::str(value) + "\n";
  };
  double patches = 0, failed = 0;
  for (const Embedding& e : all) {
    if (e.error.empty()) patches += double(e.grid.patches());
    failed += !e.error.empty();
  }
  metric("intarsia_vision_items_total", "counter", "Items encoded.", double(all.size()) - failed);
  metric("intarsia_vision_rejected_items_total", "counter", "Items that failed.", failed);
  metric("intarsia_vision_patches_total", "counter", "Patches encoded.", patches);
  metric("intarsia_vision_rows_total", "counter", "Output rows.", patches / double(config.cell()));
  const auto size = double(out.plan.packing.blocks * out.plan.packing.block_size);
  metric("intarsia_vision_padding_patches_total", "counter", "Patches that only fill blocks.",
         size > 0 ? size - patches : 0);
  metric("intarsia_vision_blocks", "gauge", "Blocks of the last call.",
         double(out.plan.packing.blocks));
  metric("intarsia_vision_encode_seconds", "gauge", "Seconds of the last call.", seconds);
  metric("intarsia_vision_imbalance_ratio", "gauge", "Largest load over the mean.",
         imbalance(out.plan.loads));
  for (size_t r = 0; r < out.ranks.size(); ++r) {
    const std::string rank = c10::str("{rank=\"", r, "\"}");
    metric("intarsia_vision_rank_busy_seconds", "gauge", "Seconds in the encoder.",
           out.ranks[r].busy, rank);
  }
  for (size_t r = 0; r < out.ranks.size(); ++r)
    metric("intarsia_vision_rank_collective_seconds", "gauge", "Seconds in collectives.",
           out.ranks[r].waiting, c10::str("{rank=\"", r, "\"}"));
  return text;
}

/// Embeddings in the order of the inputs; those that were never items keep their error.
std::vector<Embedding> by_input(const std::vector<Input>& inputs, const Items& items,
                                const std::vector<Embedding>& encoded) {
  std::vector<Embedding> all(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) all[i].error = inputs[i].error;
  for (size_t k = 0; k < items.inputs.size(); ++k) all[items.inputs[k]] = encoded[k];
  return all;
}

/// A .safetensors takes any number of items; a folder, one file each.
Outputs embedding_outputs(const VisionEncodeArgs& args) {
  const bool one_file = std::filesystem::path(args.out).extension() == ".safetensors";
  if (!one_file)
    return outputs_for(args.out, args.files, {".safetensors", ".npy"}, ".safetensors", args.model);
  Outputs outputs =
      outputs_for(args.out, {args.files[0]}, {".safetensors"}, ".safetensors", args.model);
  outputs.precious.insert(outputs.precious.end(), args.files.begin(), args.files.end());
  output_for(outputs, args.files[0], 0, 1);  // refused if it is one of the inputs
  return outputs;
}

int report(const VisionEncodeArgs& args, const Outputs& outputs, const std::vector<Input>& inputs,
           const Items& items, const vision::Encoder& encoder, const vision::Encoded& out,
           double seconds) {
  const auto all = by_input(inputs, items, out.items);
  const auto files = write(outputs, inputs, all);
  say_all(args.common, out.notes);
  if (!args.metrics.empty())
    io::write_file(args.metrics, metrics(out, all, encoder.config(), seconds));
  json lines = json::array();
  size_t failed = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    lines.push_back(line_of(inputs[i], all[i], files[i]));
    failed += !all[i].error.empty();
    if (!all[i].error.empty()) say({}, all[i].error);
    if (args.jsonl) std::cout << lines.back().dump() << "\n";
    if (args.jsonl || args.common.json || !all[i].error.empty()) continue;
    std::cout << inputs[i].file << ": " << inputs[i].width << "x" << inputs[i].height << ", grid "
              << text_of(all[i].grid) << ", " << all[i].main.size(0) << " rows of "
              << all[i].main.size(1)
              << (all[i].deepstack.empty()
                      ? ""
                      : c10::str(" on ", 1 + all[i].deepstack.size(), " levels"))
              << " -> " << files[i] << "\n";
  }
  if (args.common.json)
    std::cout << json{{"items", lines},
                      {"seconds", seconds},
                      {"tp", encoder.split().tp},
                      {"dp", encoder.split().dp},
                      {"notes", out.notes}}
                     .dump(1)
              << "\n";
  else if (!args.jsonl)
    std::cout << all.size() - failed << " encoded in " << number(seconds, 2) << " s, tp "
              << encoder.split().tp << ", dp " << encoder.split().dp << ", "
              << bytes_text(encoder.weight_bytes()) << " of weights a rank\n";
  if (args.timings) std::cout << timings_of(out);
  if (args.similarity) std::cout << similarity(inputs, all);
  std::cout << std::flush;
  return failed == 0 ? 0 : failed == all.size() ? 2 : 1;
}

}  // namespace

int vision_encode(const VisionEncodeArgs& args) {
  const Outputs outputs = embedding_outputs(args);
  const Processors processors = processors_of(args.flags, args.model);
  const vision::LoadOptions load = load_options(args.common, args.flags);
  const vision::EncodeOptions options = encode_options(args.flags);
  const auto inputs = inputs_of(args.files, processors);
  const Items items = items_of(inputs, processors);
  if (items.items.empty()) {
    for (const Input& input : inputs)
      if (launcher_rank() == 0) say({}, input.error);
    return 2;
  }
  int code = 0;
  on_ranks(args.common, [&](Group& world) {
    const auto encoder = vision::Encoder::load(args.model, world, load);
    vision::EncodeOptions mine = options;
    if (world.rank() == 0) mine.progress = progress_bar(args.common, "encode");
    const Stopwatch watch;
    const vision::Encoded out = encoder.encode(items.items, mine);
    if (world.rank() == 0)
      code = report(args, outputs, inputs, items, encoder, out, watch.seconds());
    world.barrier();
  });
  return code;
}

}  // namespace intarsia::app
