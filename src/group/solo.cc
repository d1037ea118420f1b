#include "group/threads.h"

namespace intarsia {

Group Group::solo() {
  auto world = std::make_shared<ThreadWorld>(1);
  return Group(join_threads(world, 0, {}));
}

}  // namespace intarsia
