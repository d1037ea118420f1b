#pragma once
#include <string>
#include <string_view>

namespace intarsia::io {

/// What a file seems to be by its first bytes, in words that fit after "it is …" (with advice where
/// there is some); empty if nothing is recognised.
std::string looks_like(std::string_view bytes);

/// `text` for a message: in quotes, control characters as '?', long ones cut.
std::string in_quotes(std::string_view text);

}  // namespace intarsia::io
