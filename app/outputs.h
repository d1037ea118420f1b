#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace intarsia::app {

/// Where results go: one file, or a folder for several inputs.
struct Outputs {
  std::filesystem::path path;
  bool folder = false;
  std::string inside;                           ///< extension of the files in a folder
  std::vector<std::filesystem::path> precious;  ///< inputs and the model's files: never written
};

/// A folder if `out` is one, ends in "/", or there are several inputs (made when it is needed).
/// Refuses, before any work: an extension that is not in `extensions`, two inputs of one name,
/// inputs that are not there, places that cannot be written, and results that would replace an
/// input or a file of the model. inside: the extension of files in a folder. model: may be empty.
Outputs outputs_for(const std::string& out, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& extensions, const std::string& inside,
                    const std::string& model);

/// The file for one result of `input`; `index` of `count` becomes a suffix.
/// Makes no folder: see make_folder.
std::filesystem::path output_for(const Outputs& outputs, const std::string& input, int64_t index,
                                 int64_t count);

/// Makes the folder, if it is one.
void make_folder(const Outputs& outputs);

/// For a verb whose only result is a picture.
void check_picture_output(const std::string& out, const std::vector<std::string>& inputs);

}  // namespace intarsia::app
