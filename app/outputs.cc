#include "app/outputs.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "check.h"
#include "io/atomic_file.h"

namespace intarsia::app {

namespace fs = std::filesystem;

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

std::string lower_extension(const fs::path& path) {
  std::string e = path.extension().string();
  std::transform(e.begin(), e.end(), e.begin(), [](unsigned char c) { return std::tolower(c); });
  return e;
}

void add_files(std::vector<fs::path>& to, const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) to.push_back(entry.path());
}

std::vector<fs::path> precious_files(const std::vector<std::string>& inputs,
                                     const std::string& model) {
  std::vector<fs::path> files(inputs.begin(), inputs.end());
  if (model.empty()) return files;
  files.emplace_back(model);
  add_files(files, model);
  add_files(files, fs::path(model) / "vae");
  return files;
}

void check_not_precious(const Outputs& outputs, const fs::path& target) {
  std::error_code ignored;
  if (!fs::exists(target, ignored)) return;
  for (const fs::path& file : outputs.precious)
    check(!fs::equivalent(target, file, ignored), "-o ", target.string(), " would replace ",
          file.string(), ", which is read; give another name");
}

/// By making a file there and taking it away again.
void check_writable(const fs::path& target) {
  fs::path folder = target.parent_path();
  while (!folder.empty() && !fs::exists(folder)) folder = folder.parent_path();
  const io::AtomicFile probe(folder / target.filename());
}

void check_one_file(const Outputs& outputs, const std::vector<std::string>& extensions) {
  const std::string e = lower_extension(outputs.path);
  check(std::find(extensions.begin(), extensions.end(), e) != extensions.end(), "-o ",
        outputs.path.string(), ": the extension must be one of ", joined(extensions),
        " (or give a folder)");
  const fs::path parent = outputs.path.parent_path();
  check(parent.empty() || fs::is_directory(parent), "-o ", outputs.path.string(), ": the folder ",
        parent.string(), " does not exist");
  check_not_precious(outputs, outputs.path);
  check_writable(outputs.path);
}

void check_folder(const Outputs& outputs, const std::vector<std::string>& inputs) {
  check(!fs::exists(outputs.path) || fs::is_directory(outputs.path), "-o ", outputs.path.string(),
        " is a file; several inputs need a folder");
  std::set<std::string> names;
  for (const auto& input : inputs) {
    check(names.insert(fs::path(input).stem().string()).second, "two inputs are called ",
          fs::path(input).stem().string(), "; their outputs would overwrite each other");
    check_not_precious(outputs, output_for(outputs, input, 0, 1));
  }
  check_writable(outputs.path / "probe");
}

}  // namespace

Outputs outputs_for(const std::string& out, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& extensions, const std::string& inside,
                    const std::string& model) {
  for (const std::string& input : inputs)
    check(fs::exists(input), "cannot read ", input, ": there is no such file");
  Outputs outputs{.path = out, .precious = precious_files(inputs, model)};
  outputs.folder = inputs.size() > 1 || out.ends_with("/") || fs::is_directory(outputs.path);
  outputs.inside = inside;
  if (outputs.folder)
    check_folder(outputs, inputs);
  else
    check_one_file(outputs, extensions);
  return outputs;
}

fs::path output_for(const Outputs& outputs, const std::string& input, int64_t index,
                    int64_t count) {
  const std::string suffix = count > 1 ? "_" + std::to_string(index) : "";
  fs::path path = outputs.path;
  if (outputs.folder)
    path /= fs::path(input).stem().string() + suffix + outputs.inside;
  else
    path.replace_filename(path.stem().string() + suffix + path.extension().string());
  check_not_precious(outputs, path);
  return path;
}

void make_folder(const Outputs& outputs) {
  if (outputs.folder) fs::create_directories(outputs.path);
}

void check_picture_output(const std::string& out, const std::vector<std::string>& inputs) {
  Outputs outputs{.path = out, .precious = precious_files(inputs, "")};
  check_one_file(outputs, {".png", ".jpg", ".jpeg"});
}

}  // namespace intarsia::app
