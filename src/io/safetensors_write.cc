#include <intarsia/tensor_file.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "aten.h"
#include "check.h"
#include "io/atomic_file.h"
#include "io/dtypes.h"
#include "io/sniff.h"

namespace intarsia {
namespace {

using Named = std::pair<std::string, at::Tensor>;

constexpr size_t kAlignment = 8;
constexpr size_t kLongestHeader = 100'000'000;

void check_writable(const std::vector<Named>& tensors, const std::string& file) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    const auto what = "cannot write " + file + ": tensor " + io::in_quotes(name);
    check(tensor.defined(), what, " is undefined");
    check(name != "__metadata__", what, " has the name of the metadata; use another");
    check(names.insert(name).second, what, " is given twice");
    check(tensor.layout() == at::kStrided, what, " is not dense");
    check(io::name_of(tensor.scalar_type()).has_value(), what, " has dtype ", tensor.scalar_type(),
          ", which safetensors cannot hold; it holds ", io::dtype_names());
  }
}

// Wide elements first (else in the order given), so that every tensor is aligned: readers that
// view the file need it.
std::vector<Named> aligned_order(std::vector<Named> tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const Named& a, const Named& b) {
    return a.second.element_size() > b.second.element_size();
  });
  return tensors;
}

std::string header_of(const std::vector<Named>& tensors, const Metadata& metadata,
                      const std::string& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto end = at + static_cast<int64_t>(tensor.numel() * tensor.element_size());
    header[name] = {{"dtype", *io::name_of(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    check(false, "cannot write ", file, ": a name or a metadata text is not UTF-8");
  }
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  check(text.size() <= kLongestHeader, "cannot write ", file, ": its header would be ", text.size(),
        " bytes; the format ends at ", kLongestHeader);
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<Named>& tensors,
                       const Metadata& metadata) {
  check_writable(tensors, path.string());
  const auto ordered = aligned_order(tensors);
  const std::string header = header_of(ordered, metadata, path.string());
  const uint64_t length = header.size();
  io::AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& [name, tensor] : ordered) {
    const auto plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous();
    if (plain.numel() > 0) file.write(plain.data_ptr(), plain.nbytes());
  }
  file.commit();
}

}  // namespace intarsia
