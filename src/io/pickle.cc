#include "io/pickle.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "check.h"
#include "io/byte_reader.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

using Kind = PickleNode::Kind;

constexpr size_t kMostNodes = 2'000'000;
constexpr size_t kMostArguments = 16;  // they are copied, so a shared long tuple must not pass

constexpr std::string_view kFunctions[] = {
    "collections.OrderedDict",         "torch.Size",
    "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_parameter",
};

// torch.FloatStorage, torch.storage.UntypedStorage, and dtypes such as torch.uint16.
bool is_torch_type(std::string_view module, std::string_view name) {
  if (module == "torch.storage") return name == "UntypedStorage" || name == "TypedStorage";
  if (module != "torch") return false;
  const auto starts = [&](std::string_view with) { return name.substr(0, with.size()) == with; };
  return name.ends_with("Storage") || starts("float") || starts("int") || starts("uint") ||
         starts("bfloat") || starts("complex") || name == "bool";
}

// The stack machine that a pickle is written for.
class Unpickler {
 public:
  Unpickler(std::string_view bytes, const std::string& what) : reader_(bytes, what), what_(what) {}

  Pickle run() {
    while (true) {
      const auto code = reader_.next<uint8_t>();
      if (code == '.') break;
      const bool known =
          scalar(code) || text(code) || container(code) || memo(code) || object(code);
      check(known, what_, " holds pickle operation ", int{code},
            ", which torch.save does not write for tensors; save a tensor or a dict of tensors");
    }
    pickle_.root = pop();
    return std::move(pickle_);
  }

 private:
  bool scalar(uint8_t code) {
    switch (code) {
      case 0x80:
        return reader_.next<uint8_t>(), true;  // PROTO
      case 0x95:
        return reader_.next<uint64_t>(), true;  // FRAME
      case 'N':
        return push({.kind = Kind::kNone});
      case 0x88:
        return push({.kind = Kind::kBool, .number = 1});
      case 0x89:
        return push({.kind = Kind::kBool, .number = 0});
      case 'J':
        return integer(reader_.next<int32_t>());
      case 'K':
        return integer(reader_.next<uint8_t>());
      case 'M':
        return integer(reader_.next<uint16_t>());
      case 0x8a:
        return integer(long_integer(reader_.next<uint8_t>()));
      case 'G':
        return push({.kind = Kind::kFloat, .real = big_endian_double()});
      default:
        return false;
    }
  }

  bool text(uint8_t code) {
    switch (code) {
      case 'X':
      case 'T':
      case 'B':
        return push_text(reader_.take(reader_.next<uint32_t>()));
      case 0x8c:
      case 'U':
      case 'C':
        return push_text(reader_.take(reader_.next<uint8_t>()));
      case 0x8d:
      case 0x8e:
        return push_text(reader_.take(reader_.next<uint64_t>()));
      default:
        return false;
    }
  }

  bool container(uint8_t code) {
    switch (code) {
      case '(':
        return marks_.push_back(stack_.size()), true;
      case ')':
        return push({.kind = Kind::kTuple});
      case ']':
        return push({.kind = Kind::kList});
      case '}':
        return push({.kind = Kind::kDict});
      case 't':
        return push_tuple(since_mark());
      case 0x85:
        return push_tuple(last(1));
      case 0x86:
        return push_tuple(last(2));
      case 0x87:
        return push_tuple(last(3));
      case 'a':
        return extend(Kind::kList, last(1));
      case 'e':
        return extend(Kind::kList, since_mark());
      case 's':
        return extend(Kind::kDict, last(2));
      case 'u':
        return extend(Kind::kDict, since_mark());
      case '0':
        return pop(), true;
      default:
        return false;
    }
  }

  bool memo(uint8_t code) {
    switch (code) {
      case 'q':
        return memo_[reader_.next<uint8_t>()] = top(), true;
      case 'r':
        return memo_[reader_.next<uint32_t>()] = top(), true;
      case 0x94:
        return memo_[static_cast<uint32_t>(memo_.size())] = top(), true;
      case 'h':
        return recall(reader_.next<uint8_t>());
      case 'j':
        return recall(reader_.next<uint32_t>());
      default:
        return false;
    }
  }

  bool object(uint8_t code) {
    switch (code) {
      case 'c':
        return global_line();
      case 0x93:
        return global_from_stack();
      case 'Q':
        return storage();
      case 'R':
        return reduce();
      case 'b':
        return build();
      default:
        return false;
    }
  }

  bool push(PickleNode node) {
    check(pickle_.nodes.size() < kMostNodes, what_, " holds more than ", kMostNodes, " values");
    stack_.push_back(static_cast<uint32_t>(pickle_.nodes.size()));
    pickle_.nodes.push_back(std::move(node));
    return true;
  }
  bool integer(int64_t value) { return push({.kind = Kind::kInt, .number = value}); }
  bool push_text(std::string_view words) {
    return push({.kind = Kind::kText, .text = std::string(words)});
  }
  bool push_tuple(std::vector<uint32_t> items) {
    return push({.kind = Kind::kTuple, .items = std::move(items)});
  }

  // Values below the innermost mark belong to an outer container.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  uint32_t top() const {
    check(stack_.size() > floor(), what_, " is a broken pickle: its stack ran empty");
    return stack_.back();
  }
  uint32_t pop() {
    const uint32_t id = top();
    stack_.pop_back();
    return id;
  }
  std::vector<uint32_t> last(size_t count) {
    check(stack_.size() >= floor() + count, what_, " is a broken pickle: its stack ran empty");
    std::vector<uint32_t> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  std::vector<uint32_t> since_mark() {
    check(!marks_.empty(), what_, " is a broken pickle: a mark is missing");
    auto items = last(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  int64_t long_integer(size_t count) {
    check(count <= 8, what_, " holds an integer beyond 63 bits");
    uint64_t value = 0;
    const auto bytes = reader_.take(count);
    for (size_t i = 0; i < count; ++i)
      value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    const bool negative = count > 0 && count < 8 && (bytes[count - 1] & 0x80) != 0;
    return static_cast<int64_t>(negative ? value | (~uint64_t{0} << (8 * count)) : value);
  }

  double big_endian_double() {
    return std::bit_cast<double>(__builtin_bswap64(reader_.next<uint64_t>()));
  }

  bool recall(uint32_t key) {
    const auto found = memo_.find(key);
    check(found != memo_.end(), what_, " is a broken pickle: it recalls what it never stored");
    stack_.push_back(found->second);
    return true;
  }

  bool extend(Kind kind, const std::vector<uint32_t>& items) {
    auto& target = pickle_.nodes[top()];
    check(target.kind == kind && (kind != Kind::kDict || items.size() % 2 == 0), what_,
          " is a broken pickle: it adds to what is no ", kind == Kind::kDict ? "dict" : "list");
    target.items.insert(target.items.end(), items.begin(), items.end());
    return true;
  }

  bool global(std::string_view module, std::string_view name) {
    const auto full = std::string(module) + "." + std::string(name);
    const bool known =
        is_torch_type(module, name) ||
        std::find(std::begin(kFunctions), std::end(kFunctions), full) != std::end(kFunctions);
    check(
        known, what_, " refers to ", in_quotes(full),
        ", which is not loaded (a pickle could run any code); save a tensor or a dict of tensors");
    return push({.kind = Kind::kGlobal, .text = full});
  }
  bool global_line() {
    const auto module = reader_.line();
    return global(module, reader_.line());
  }
  bool global_from_stack() {
    const auto names = last(2);
    const std::string module = pickle_.nodes[names[0]].text;
    const std::string name = pickle_.nodes[names[1]].text;
    return global(module, name);
  }

  bool storage() {
    const auto& id = pickle_.nodes[pop()];
    check(id.kind == Kind::kTuple && id.items.size() <= kMostArguments, what_,
          " is a broken pickle: a storage that is no tuple");
    return push({.kind = Kind::kStorage, .items = std::vector<uint32_t>(id.items)});
  }

  bool reduce() {
    const auto call = last(2);
    const std::string function = pickle_.nodes[call[0]].text;
    const bool sound =
        pickle_.nodes[call[0]].kind == Kind::kGlobal && pickle_.nodes[call[1]].kind == Kind::kTuple;
    check(sound, what_, " is a broken pickle: a call of what is no function");
    const std::vector<uint32_t> arguments = pickle_.nodes[call[1]].items;
    if (function.starts_with("torch._utils._rebuild_tensor"))
      return push({.kind = Kind::kTensor, .items = arguments});
    if (function == "collections.OrderedDict" && arguments.empty())
      return push({.kind = Kind::kDict});
    const bool passes = function == "torch.Size" || function == "torch._utils._rebuild_parameter";
    check(passes && !arguments.empty(), what_, " calls ", in_quotes(function),
          " in a way that is not known");
    stack_.push_back(arguments[0]);
    return true;
  }

  // Attributes of a container (a state dict's _metadata) are of no use here.
  bool build() {
    const auto pair = last(2);
    check(pickle_.nodes[pair[0]].kind == Kind::kDict, what_,
          " sets the state of what is no dict, which is not known");
    stack_.push_back(pair[0]);
    return true;
  }

  ByteReader reader_;
  const std::string& what_;
  Pickle pickle_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, uint32_t> memo_;
};

}  // namespace

Pickle read_pickle(std::string_view bytes, const std::string& what) {
  return Unpickler(bytes, what).run();
}

}  // namespace intarsia::io
