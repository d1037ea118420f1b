#include "io/icc.h"

// A build without lcms2.
namespace intarsia::io {

std::unique_ptr<ToSrgb> to_srgb(const PictureHeader& header, std::vector<std::string>& notes) {
  if (!header.icc.empty())
    notes.emplace_back("its colour profile was ignored: this build has no lcms2");
  return nullptr;
}

}  // namespace intarsia::io
