#include <intarsia/packing.h>

#include <algorithm>

#include "check.h"

namespace intarsia {

int64_t bucket_blocks(int64_t patches, int64_t block_size, int64_t dp) {
  check(patches >= 0 && block_size >= 1 && dp >= 1, "a bucket of ", patches,
        " patches in blocks of ", block_size, " over ", dp,
        " ranks; use 0 or more, 1 or more, 1 or more");
  const int64_t blocks = (patches + block_size - 1) / block_size;
  return (blocks + dp - 1) / dp * dp;
}

void check_buckets(std::span<const int64_t> buckets, int64_t block_size) {
  check(!buckets.empty(), "the list of buckets is empty; leave it out to have them chosen");
  for (size_t i = 0; i < buckets.size(); ++i) {
    check(buckets[i] >= 1, "bucket ", buckets[i], " holds no patch; use 1 or more");
    check(i == 0 || buckets[i] > buckets[i - 1], "buckets must ascend: ", buckets[i],
          " comes after ", buckets[i == 0 ? 0 : i - 1]);
  }
  check(buckets.back() >= block_size, "the largest bucket, ", buckets.back(),
        " patches, is less than one block of ", block_size,
        "; use smaller blocks or a larger bucket");
}

BucketChoice choose_bucket(std::span<const int64_t> buckets, std::span<const PackItem> items,
                           int64_t block_size, int64_t dp) {
  check_buckets(buckets, block_size);
  const Packing least = pack_first_fit(items, block_size);
  int64_t patches = 0;
  for (const PackItem& item : items) patches += item.patches();
  for (const int64_t bucket : buckets) {
    const int64_t blocks = bucket_blocks(bucket, block_size, dp);
    if (bucket < patches || blocks < least.blocks) continue;
    Packing packing = least;
    packing.blocks = blocks;
    return {bucket, std::move(packing)};
  }
  check(false, "the items have ", patches, " patches and take ", least.blocks, " blocks of ",
        block_size, ", more than the largest bucket of ", buckets.back(),
        " patches; send fewer at once, or add a bucket");
  return {};
}

std::vector<int64_t> automatic_buckets(int64_t block_size, int64_t largest) {
  check(block_size >= 1 && largest >= 1, "buckets of blocks of ", block_size, " up to ", largest,
        " patches; both must be 1 or more");
  std::vector<int64_t> buckets{block_size};
  while (buckets.back() < largest) buckets.push_back(buckets.back() * 2);
  return buckets;
}

}  // namespace intarsia
