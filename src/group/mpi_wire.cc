#include "group/mpi_wire.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "check.h"

namespace intarsia::mpi {
namespace {

constexpr int kFrameTag = 0;  // bulk has 1 and more

Wire* the_wire = nullptr;

/// An MPI call that failed is a peer's trouble: nothing here is called with wrong arguments.
void require(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CommError(the_wire ? the_wire->rank() : 0, call, std::string(text.data(), length));
}

/// The cores this process may run on, one bit each; all, if the kernel does not say.
using CoreSet = std::array<uint64_t, 128>;

CoreSet own_cores() {
  CoreSet cores{};
  if (sched_getaffinity(0, sizeof(cores), reinterpret_cast<cpu_set_t*>(cores.data())) != 0) {
    cores.fill(~uint64_t(0));
  }
  return cores;
}

bool overlap(const CoreSet& a, const CoreSet& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] & b[i]) return true;
  }
  return false;
}

}  // namespace

Wire& Wire::get() {
  if (!the_wire) the_wire = new Wire;
  int main_thread = 0;
  MPI_Is_thread_main(&main_thread);
  check(main_thread, "launch: run_mpi was called from another thread than the one that started MPI",
        "; call it from the main thread");
  return *the_wire;
}

bool Wire::exists() { return the_wire != nullptr; }

Wire::Wire() {
  int started = 0, ended = 0;
  MPI_Finalized(&ended);
  check(!ended, "launch: MPI was finalized in this process; start it anew");
  MPI_Initialized(&started);
  if (!started) {
    int provided = 0;
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    ours_ = true;
    std::atexit([] { the_wire->finalize(); });
  }
  require(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  require(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  int found = 0;
  int* largest = nullptr;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&largest), &found);
  if (found) largest_tag_ = *largest;
  find_neighbours();
  next_tag_.assign(size_, kFrameTag + 1);
  listening_.assign(size_, MPI_REQUEST_NULL);
  incoming_.resize(size_);
  for (int r = 0; r < size_; ++r) listen(r);
}

void Wire::find_neighbours() {
  MPI_Comm host = MPI_COMM_NULL;
  require(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host),
          "MPI_Comm_split_type");
  int neighbours = 1, name = rank_;
  MPI_Comm_size(host, &neighbours);
  require(MPI_Bcast(&name, 1, MPI_INT, 0, host), "MPI_Bcast");  // the host's first rank
  hosts_.resize(size_);
  require(MPI_Allgather(&name, 1, MPI_INT, hosts_.data(), 1, MPI_INT, comm_), "MPI_Allgather");

  const CoreSet mine = own_cores();
  std::vector<CoreSet> all(neighbours);
  require(MPI_Allgather(mine.data(), sizeof(CoreSet), MPI_BYTE, all.data(), sizeof(CoreSet),
                        MPI_BYTE, host),
          "MPI_Allgather");
  core_sharers_ = static_cast<int>(
      std::count_if(all.begin(), all.end(), [&](const CoreSet& c) { return overlap(c, mine); }));
  MPI_Comm_free(&host);
}

void Wire::listen(int from) {
  if (from == rank_) return;
  auto& buffer = incoming_[from];
  buffer.resize(sizeof(Frame) + kInsideBytes);
  require(MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, from, kFrameTag,
                    comm_, &listening_[from]),
          "MPI_Irecv");
}

int Wire::send_frame(int to, Frame frame, const void* data) {
  const bool inside = frame.bytes <= kInsideBytes;
  if (!inside) {
    const auto tags = static_cast<size_t>(largest_tag_ - kFrameTag);
    if (pending_.size() >= tags) {  // a tag in use must not be given away again
      throw CommError(rank_, "send", c10::str(pending_.size(), " messages are on their way"));
    }
    frame.bulk_tag = next_tag_[to];
    next_tag_[to] = frame.bulk_tag == largest_tag_ ? kFrameTag + 1 : frame.bulk_tag + 1;
  }
  std::vector<std::byte> bytes(sizeof(Frame) + (inside ? frame.bytes : 0));
  std::memcpy(bytes.data(), &frame, sizeof(Frame));
  if (inside && frame.bytes > 0) std::memcpy(bytes.data() + sizeof(Frame), data, frame.bytes);
  Requests request(1);
  require(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kFrameTag, comm_,
                    &request[0]),
          "MPI_Isend");
  if (!test(request)) pending_.push_back({std::move(request), std::move(bytes), {}});
  return frame.bulk_tag;
}

void Wire::send_bulk(int to, int tag, const void* data, int64_t bytes, Requests& requests) {
  const auto* at = static_cast<const std::byte*>(data);
  for (int64_t start = 0; start < bytes; start += kPieceBytes) {
    const int count = static_cast<int>(std::min(kPieceBytes, bytes - start));
    require(MPI_Isend(at + start, count, MPI_BYTE, to, tag, comm_, &requests.emplace_back()),
            "MPI_Isend");
  }
}

void Wire::receive_bulk(int from, int tag, void* to, int64_t bytes, Requests& requests) {
  auto* at = static_cast<std::byte*>(to);
  for (int64_t start = 0; start < bytes; start += kPieceBytes) {
    const int count = static_cast<int>(std::min(kPieceBytes, bytes - start));
    require(MPI_Irecv(at + start, count, MPI_BYTE, from, tag, comm_, &requests.emplace_back()),
            "MPI_Irecv");
  }
}

bool Wire::test(Requests& requests) {
  int over = 1;
  if (!requests.empty()) {
    require(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &over, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  }
  if (over) requests.clear();
  return over != 0;
}

void Wire::keep(Requests requests, std::vector<at::Tensor> held) {
  if (!test(requests)) pending_.push_back({std::move(requests), {}, std::move(held)});
}

void Wire::forget_sent() {
  pending_.remove_if([this](Pending& p) { return test(p.requests); });
}

void Wire::poll(const std::function<void(Arrived)>& take) {
  forget_sent();
  while (true) {
    int index = MPI_UNDEFINED, some = 0;
    MPI_Status status;
    require(MPI_Testany(size_, listening_.data(), &index, &some, &status), "MPI_Testany");
    if (!some || index == MPI_UNDEFINED) return;
    Arrived arrived{.from = index, .frame = {}, .inside = {}};
    const auto& buffer = incoming_[index];
    std::memcpy(static_cast<void*>(&arrived.frame), buffer.data(), sizeof(Frame));
    const Frame& frame = arrived.frame;
    if (frame.bulk_tag == 0) {
      const auto* inside = buffer.data() + sizeof(Frame);
      arrived.inside.assign(inside, inside + frame.bytes);
    }
    listen(index);
    take(std::move(arrived));
  }
}

void Wire::finalize() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended || !ours_ || !finalize_) return;
  for (MPI_Request& request : listening_) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&comm_);
  MPI_Finalize();
}

}  // namespace intarsia::mpi
