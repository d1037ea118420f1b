#include <intarsia/checkpoint.h>

#include "aten.h"
#include "check.h"
#include "io/checkpoint_find.h"
#include "io/nearest.h"
#include "io/safetensors.h"
#include "io/sniff.h"

namespace intarsia {
namespace {

// Where one tensor lies, and what it is called there.
struct Place {
  std::shared_ptr<const io::MappedFile> file;
  io::Stored stored;
  std::string stored_name;
};

}  // namespace

struct Checkpoint::Impl {
  std::filesystem::path path;
  std::filesystem::path config;
  std::map<std::string, std::string> metadata;
  std::map<std::string, Place> places;

  const Place& at(const std::string& name) const {
    const auto found = places.find(name);
    if (found != places.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, place] : places) names.push_back(known);
    const auto near = io::nearest(name, names);
    check(false, path.string(), " has no tensor ", io::in_quotes(name),
          near.empty() ? "; it has none at all" : "; did you mean " + io::listed(near));
    throw std::logic_error("unreachable");
  }

  void add(const io::Safetensors& file) {
    for (const auto& [name, stored] : file.tensors) {
      const auto [place, added] = places.try_emplace(name, Place{file.file, stored, name});
      check(added, "tensor ", io::in_quotes(name), " stands both in ", place->second.file->name(),
            " and in ", file.file->name());
    }
  }

  // Every tensor the index names must be in the shard it names.
  void check_map(const std::map<std::string, std::string>& weight_map) const {
    for (const auto& [name, shard] : weight_map) {
      const auto found = places.find(name);
      const bool there = found != places.end() && found->second.file->path().filename() == shard;
      check(there, path.string(), " places tensor ", io::in_quotes(name), " in ",
            io::in_quotes(shard), ", but it is not there");
    }
  }
};

Checkpoint::Checkpoint(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Checkpoint Checkpoint::open(const std::filesystem::path& path) {
  const auto files = io::find_checkpoint(path);
  auto impl = std::make_shared<Impl>();
  impl->path = files.path;
  impl->config = files.config;
  for (const auto& shard : files.shards) {
    const auto file = io::open_safetensors(shard);
    if (shard == files.shards.front()) impl->metadata = file.metadata;
    impl->add(file);
  }
  impl->check_map(files.weight_map);
  return Checkpoint(std::move(impl));
}

const std::filesystem::path& Checkpoint::config_path() const { return impl_->config; }
const std::filesystem::path& Checkpoint::path() const { return impl_->path; }
const std::map<std::string, std::string>& Checkpoint::metadata() const { return impl_->metadata; }

bool Checkpoint::contains(const std::string& name) const { return impl_->places.contains(name); }

const TensorInfo& Checkpoint::info(const std::string& name) const {
  return impl_->at(name).stored.info;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : impl_->places) names.push_back(name);
  return names;
}

int64_t Checkpoint::bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, place] : impl_->places) bytes += place.stored.info.bytes;
  return bytes;
}

at::Tensor Checkpoint::read(const std::string& name) const {
  const auto& place = impl_->at(name);
  return io::copy_of(*place.file, place.stored, place.stored_name);
}

at::Tensor Checkpoint::read(const std::string& name, const Shard& shard, int64_t part) const {
  const auto& place = impl_->at(name);
  const auto& shape = place.stored.info.shape;
  const bool whole = shard.parts == 1 && part == 0 && shard.segments.empty();
  if (whole) return read(name);
  check(shard.axis >= 0 && shard.axis < static_cast<int64_t>(shape.size()), "tensor ",
        io::in_quotes(name), " of shape ", shape, " has no axis ", shard.axis, " to cut");
  const auto ranges = shard_ranges(shard, shape[shard.axis], part);
  return io::copy_of(*place.file, place.stored, place.stored_name, shard.axis, ranges);
}

at::Tensor Checkpoint::view(const std::string& name) const {
  const auto& place = impl_->at(name);
  return io::view_of(place.file, place.stored, place.stored_name);
}

Checkpoint Checkpoint::renamed(const std::map<std::string, std::string>& rename) const {
  auto impl = std::make_shared<Impl>();
  impl->path = impl_->path;
  impl->config = impl_->config;
  impl->metadata = impl_->metadata;
  for (const auto& [name, place] : impl_->places) {
    const auto found = rename.find(name);
    const std::string& to = found == rename.end() ? name : found->second;
    if (to.empty()) continue;
    const auto [other, added] = impl->places.try_emplace(to, place);
    check(added, path().string(), ": tensors ", io::in_quotes(other->second.stored_name), " and ",
          io::in_quotes(place.stored_name), " would both be called ", io::in_quotes(to));
  }
  return Checkpoint(std::move(impl));
}

}  // namespace intarsia
