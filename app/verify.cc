#include "app/verify.h"

#include <intarsia/tensor_file.h>

#include <fstream>
#include <iostream>

#include "app/vae_common.h"
#include "aten.h"
#include "check.h"

namespace intarsia::app {

namespace fs = std::filesystem;
using nlohmann::json;
using Status = CaseResult::Status;

const at::Tensor& CaseFolder::tensor(const std::string& name) const {
  const auto found = tensors.find(name);
  check(found != tensors.end(), path, ": cases.json names the tensor ", name,
        ", which the tensor files do not hold");
  return found->second;
}

void Judge::compare(const std::string& what, const at::Tensor& got, const at::Tensor& expected,
                    double tolerance) {
  double error = std::numeric_limits<double>::infinity();
  if (got.sizes() == expected.sizes()) {
    error = (got.cpu().to(at::kDouble) - expected.to(at::kDouble)).abs().max().item<double>();
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  }
  const double ratio = tolerance > 0 ? error / tolerance : error == 0 ? 0 : error * 1e300;
  if (ratio <= worst_) return;
  worst_ = ratio;
  error_ = error;
  tolerance_ = tolerance;
  what_ = got.sizes() == expected.sizes()
              ? what
              : c10::str(what, ": shape ", got.sizes(), ", expected ", expected.sizes());
}

void Judge::finish(CaseResult& result) const {
  result.error = error_;
  result.tolerance = tolerance_;
  result.status = worst_ <= 1 ? Status::kOk : Status::kFailed;
  if (worst_ > 1) result.word = what_;
}

namespace {

CaseFolder open_folder(const std::string& path) {
  CaseFolder folder{.path = path, .cases = {}, .tensors = {}};
  const fs::path file = fs::path(path) / "cases.json";
  check(fs::is_regular_file(file), path,
        " has no cases.json; verify wants a folder as in tests/data/vae");
  std::ifstream in(file);
  try {
    folder.cases = json::parse(in);
    check(folder.cases.at("cases").is_array(), file.string(), ": \"cases\" is not a list");
  } catch (const json::exception& e) {
    check(false, file.string(), ": ", e.what());
  }
  folder.tensors = read_tensors(fs::path(path) / "cases.safetensors");
  return folder;
}

/// By the first case: those of vision encoders have an id, those of VAEs a name.
bool is_vision(const CaseFolder& folder) {
  const json& all = folder.cases.at("cases");
  return !all.empty() && all.front().is_object() && all.front().contains("id");
}

const char* word_for(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kFailed:
      return "FAILED";
    case Status::kRefused:
      return "refused";
    case Status::kSkipped:
      return "skipped";
  }
  return "";
}

std::string scientific(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", v);
  return text;
}

void print_text(const std::vector<CaseResult>& results) {
  std::vector<std::vector<std::string>> rows{{"case", "op", "error", "tolerance", "result"}};
  for (const CaseResult& r : results) {
    const bool judged = r.status == Status::kOk || r.status == Status::kFailed;
    rows.push_back({r.name, r.op, judged ? scientific(r.error) : "-",
                    judged ? scientific(r.tolerance) : "-",
                    word_for(r.status) + (r.word.empty() ? "" : ": " + r.word)});
  }
  std::cout << table(rows);
}

void print_json(const std::vector<CaseResult>& results) {
  json all = json::array();
  for (const CaseResult& r : results)
    all.push_back({{"case", r.name},
                   {"op", r.op},
                   {"result", word_for(r.status)},
                   {"error", r.error},
                   {"tolerance", r.tolerance},
                   {"word", r.word}});
  std::cout << all.dump(1) << "\n";
}

/// 0 only if all hold and at least one ran.
int judge(const std::vector<CaseResult>& results, const VerifyArgs& args) {
  int ran = 0, failed = 0, refused = 0, skipped = 0;
  for (const CaseResult& r : results) {
    ran += r.status == Status::kOk || r.status == Status::kFailed;
    failed += r.status == Status::kFailed;
    refused += r.status == Status::kRefused;
    skipped += r.status == Status::kSkipped;
  }
  if (!args.common.json)
    std::cout << ran - failed << " held, " << failed << " failed, " << refused
              << " refused (faults of the original), " << skipped << " skipped\n";
  if (ran == 0) say({}, "no case ran: nothing is verified");
  return ran > 0 && failed == 0 ? 0 : 1;
}

}  // namespace

int verify(const VerifyArgs& args) {
  Shared<CaseFolder> folder([&] { return open_folder(args.folder); });
  int code = 1;
  on_ranks(args.common, [&](Group& group) {
    const auto results = is_vision(folder.get()) ? verify_vision(folder.get(), args, group)
                                                 : verify_vae(folder.get(), args, group);
    int64_t verdict = 0;
    if (group.rank() == 0) {
      args.common.json ? print_json(results) : print_text(results);
      verdict = judge(results, args);
      std::cout << std::flush;
    }
    verdict = group.broadcast(at::full({1}, verdict, at::kLong), 0).item<int64_t>();
    if (group.rank() == 0 || launch::under_mpi()) code = int(verdict);
  });
  return code;
}

}  // namespace intarsia::app
