#include <intarsia/plan.h>

#include <algorithm>

#include "check.h"

namespace intarsia {

std::vector<Range> bands(int64_t extent, int64_t parts) {
  std::vector<Range> cut;
  for (int64_t p = 0; p < parts; ++p) cut.push_back(even_part(extent, parts, p));
  return cut;
}

int64_t band_before(const std::vector<Range>& bands, int64_t part) {
  for (int64_t p = part - 1; p >= 0; --p)
    if (!bands[p].empty()) return p;
  return -1;
}

int64_t band_after(const std::vector<Range>& bands, int64_t part) {
  for (int64_t p = part + 1; p < int64_t(bands.size()); ++p)
    if (!bands[p].empty()) return p;
  return -1;
}

Halo halo(const Range& band, int64_t extent, int64_t kernel, int64_t stride, int64_t pad_before,
          int64_t pad_after) {
  check(kernel >= stride && stride >= 1, "a kernel of ", kernel, " with stride ", stride,
        " skips rows; bands need kernel >= stride >= 1");
  check(band.begin % stride == 0 && (band.end % stride == 0 || band.end == extent),
        "a band of rows [", band.begin, ", ", band.end, ") does not divide by the stride ", stride,
        "; cut at multiples of it");
  if (band.empty()) return {};
  // First and one past the last input row that the band's output rows read.
  const bool last = band.end == extent;
  const int64_t outputs =
      last ? (extent + pad_before + pad_after - kernel) / stride + 1 : band.end / stride;
  const int64_t first = band.begin - pad_before;
  const int64_t end = (outputs - 1) * stride - pad_before + kernel;
  Halo h;
  h.zeros_before = std::max<int64_t>(0, -first);
  h.before = std::max<int64_t>(0, band.begin - std::max<int64_t>(first, 0));
  h.zeros_after = std::max<int64_t>(0, end - extent);
  h.after = std::max<int64_t>(0, std::min(end, extent) - band.end);
  return h;
}

}  // namespace intarsia
