#pragma once
#include <intarsia/group.h>

#include <vector>

#include "aten.h"

namespace intarsia {

bool can_reduce(at::ScalarType dtype, Reduce op);

/// out[i] = ((parts[0][i] + parts[1][i]) + parts[2][i]) + …, in that order whoever runs it; 16-bit
/// floats are summed in float32 and rounded once. out overlaps no part.
void reduce(at::ScalarType dtype, Reduce op, const std::vector<const void*>& parts, void* out,
            int64_t count);

}  // namespace intarsia
