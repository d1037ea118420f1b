#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::io {

/// One value of a pickle. Values refer to each other by their index, so sharing and cycles cost
/// nothing and nothing is ever run.
struct PickleNode {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kTuple,
    kList,
    kDict,
    kGlobal,
    kStorage,
    kTensor
  };
  Kind kind = Kind::kNone;
  int64_t number = 0;     ///< kInt, kBool
  double real = 0;        ///< kFloat
  std::string text = {};  ///< kText (also bytes), kGlobal: "module.name"
  std::vector<uint32_t> items =
      {};  ///< containers; kDict: key, value, …; kStorage, kTensor: arguments
};

struct Pickle {
  std::vector<PickleNode> nodes;
  uint32_t root = 0;
};

/// Reads a pickle of torch.save without running anything: plain values and containers,
/// OrderedDict, torch.Size, torch's storages, dtypes and rebuilt tensors. kTensor's items are
/// (storage, offset, size, stride, requires_grad, hooks[, dtype or metadata, …]); kStorage's are
/// ('storage', type, key, place, count). Any other class or function is refused by its name.
/// Throws std::invalid_argument naming `what`.
Pickle read_pickle(std::string_view bytes, const std::string& what);

}  // namespace intarsia::io
