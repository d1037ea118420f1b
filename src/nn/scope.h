#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace intarsia::nn {

/// Sees the outputs of named modules. The tensor may be changed in place afterwards: clone to keep.
struct Observer {
  virtual ~Observer() = default;
  virtual void output(const std::string& path, const at::Tensor& x) = 0;
};

/// Where in the model a forward function is. One pointer test a location when nobody observes.
/// Children refer to their parent: keep it alive (it is, on the stack of a forward).
class Scope {
 public:
  Scope() = default;
  explicit Scope(Observer* observer) : observer_(observer) {}

  Scope child(std::string_view name, int64_t index = -1) const {
    Scope scope(observer_);
    scope.parent_ = this;
    scope.name_ = name;
    scope.index_ = index;
    return scope;
  }
  bool observed() const { return observer_ != nullptr; }
  at::Tensor output(at::Tensor x) const {
    if (observer_) observer_->output(path(), x);
    return x;
  }

 private:
  std::string path() const {
    std::string up = parent_ ? parent_->path() : "";
    if (!up.empty() && !name_.empty()) up += ".";
    up += name_;
    return index_ < 0 ? up : up + "." + std::to_string(index_);
  }

  Observer* observer_ = nullptr;
  const Scope* parent_ = nullptr;
  std::string_view name_;
  int64_t index_ = -1;
};

}  // namespace intarsia::nn
