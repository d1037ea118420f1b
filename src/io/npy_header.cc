#include "io/npy_header.h"

#include <charconv>
#include <set>

#include "check.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

// The few forms of Python literals that NumPy writes: {'key': 'text' | True | False | (1, 2,)}.
class Literals {
 public:
  Literals(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    check(accept(token), what_, ": its header is broken: ", in_quotes(token), " is missing at ",
          in_quotes(text_.substr(std::min(at_, text_.size()), 20)));
  }

  std::string text() {
    skip_space();
    const bool known = at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"');
    check(known, what_, ": its header is broken: a text is missing at ",
          in_quotes(text_.substr(std::min(at_, text_.size()), 20)));
    const size_t end = text_.find(text_[at_], at_ + 1);
    check(end != std::string_view::npos, what_, ": its header is broken: a text has no end");
    const std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }

  bool truth() {
    if (accept("True")) return true;
    expect("False");
    return false;
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> numbers;
    expect("(");
    while (!accept(")")) {
      numbers.push_back(number());
      check(numbers.size() <= 64, what_, " has more than 64 axes");
      if (accept(",")) continue;
      expect(")");
      break;
    }
    return numbers;
  }

  void expect_end() {
    skip_space();
    check(at_ == text_.size(), what_, ": its header is broken: text follows its dict");
  }

 private:
  int64_t number() {
    skip_space();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    check(error != std::errc::result_out_of_range, what_,
          ": an extent of its shape is beyond 63 bits");
    check(error == std::errc() && value >= 0, what_,
          ": its header is broken: an extent that is no number from 0 up");
    at_ += static_cast<size_t>(end - begin);
    accept("L");  // Python 2 wrote 3L
    return value;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  std::string_view text_;
  const std::string& what_;
  size_t at_ = 0;
};

// Records come as a list of fields.
std::string descr_of(Literals& literals, const std::string& what) {
  check(!literals.accept("["), what,
        " holds records (a structured dtype), which are not read; save one field of it");
  return literals.text();
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& what) {
  Literals literals(text, what);
  NpyHeader header;
  std::set<std::string> keys;
  literals.expect("{");
  while (!literals.accept("}")) {
    const auto key = literals.text();
    check(keys.insert(key).second, what, ": its header says ", in_quotes(key), " twice");
    literals.expect(":");
    if (key == "descr")
      header.descr = descr_of(literals, what);
    else if (key == "fortran_order")
      header.fortran_order = literals.truth();
    else if (key == "shape")
      header.shape = literals.tuple();
    else
      check(false, what, ": its header has an unknown key ", in_quotes(key));
    if (literals.accept(",")) continue;
    literals.expect("}");
    break;
  }
  literals.expect_end();
  check(keys.size() == 3, what, ": its header lacks descr, fortran_order or shape");
  return header;
}

}  // namespace intarsia::io
