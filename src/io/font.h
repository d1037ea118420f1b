#pragma once

namespace intarsia::draw {

constexpr int kLetterColumns = 5;
constexpr int kLetterRows = 8;     ///< 7, and one under the baseline
constexpr int kLetterAdvance = 6;  ///< from a letter to the next
constexpr int kLineAdvance = 10;   ///< from a line to the next

/// Whether a letter covers a pixel of its 5×8 cell; letters outside of ASCII are a hollow box.
bool letter_has(unsigned char letter, int row, int column);

}  // namespace intarsia::draw
