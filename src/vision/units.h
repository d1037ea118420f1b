#pragma once
#include <future>

#include "vision/positions.h"

// What a rank runs in one go: an item, its part of a split item, or a block.
namespace intarsia::vision {

struct Unit {
  struct Part {
    int64_t item = 0;
    Grid grid;           ///< of the frames that are here
    int64_t first = 0;   ///< patch of the item where they begin
    int64_t offset = 0;  ///< token of the unit
  };
  std::vector<Part> parts;
  int64_t tokens = 0;  ///< with padding
  bool split = false;  ///< shared by all data-parallel ranks
};

/// This rank's units, in the order in which their output rows are gathered.
std::vector<Unit> units_of(const EncodePlan& plan, std::span<const Grid> grids, int64_t block_size,
                           int64_t dp_rank);

/// The tokens of a unit: those of its parts side by side, padding that nothing sees in between.
/// good: whether each part's item can be run; others are padding.
struct UnitInput {
  Tokens tokens;
  at::Tensor pixels;  ///< [mine.size(), features]
};
UnitInput input_of(const Tower& tower, const Unit& unit, const std::vector<at::Tensor>& patches,
                   int64_t dp, int64_t dp_rank);

/// Loads the patches of units ahead of their turn, one unit in the background.
class Patchloader {
 public:
  Patchloader(const std::vector<Item>& items, const std::vector<Unit>& units, int64_t features);
  /// Patches of each part of unit `index` (asked for in order); undefined where loading failed,
  /// and then the error says why.
  struct Loaded {
    std::vector<at::Tensor> patches;
    std::vector<std::string> errors;
  };
  Loaded take(size_t index);

 private:
  Loaded load(size_t index) const;

  const std::vector<Item>& items_;
  const std::vector<Unit>& units_;
  int64_t features_;
  std::future<Loaded> next_;
};

}  // namespace intarsia::vision
