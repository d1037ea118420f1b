#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/verbs.h"

namespace intarsia::app {

/// One line of `verify`.
struct CaseResult {
  enum class Status { kOk, kFailed, kRefused, kSkipped };
  std::string name;
  std::string op;
  Status status = Status::kSkipped;
  double error = 0;  ///< largest difference; of the worst of its tensors against its tolerance
  double tolerance = 0;
  std::string word;  ///< why skipped, refused or failed
};

/// A folder with cases.json and the tensors it names.
struct CaseFolder {
  std::string path;
  nlohmann::json cases;
  std::map<std::string, at::Tensor> tensors;

  /// Throws std::invalid_argument if the file does not hold it.
  const at::Tensor& tensor(const std::string& name) const;
};

/// Keeps the worst (error / tolerance) of what a case compares.
class Judge {
 public:
  void compare(const std::string& what, const at::Tensor& got, const at::Tensor& expected,
               double tolerance);
  void finish(CaseResult& result) const;

 private:
  double worst_ = -1;
  double error_ = 0, tolerance_ = 0;
  std::string what_;
};

/// Runs the VAE cases; collective. Results on every rank, judged on rank 0.
std::vector<CaseResult> verify_vae(const CaseFolder& folder, const VerifyArgs& args, Group& group);
/// The same for the cases of a vision encoder.
std::vector<CaseResult> verify_vision(const CaseFolder& folder, const VerifyArgs& args,
                                      Group& world);

}  // namespace intarsia::app
