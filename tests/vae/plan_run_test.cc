#include <intarsia/vae.h>

#include "support/tensors.h"

namespace intarsia::vae {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

KlConfig sd() {
  KlConfig c;
  c.sample_size = 512;
  return c;
}

RunInput decode_of(int64_t h, int64_t w, int ranks = 1) {
  return {.height = h,
          .width = w,
          .ranks = ranks,
          .local_ranks = ranks,
          .process_ranks = ranks,
          .baseline = kGiB / 2};
}

TEST(PlanRun, AutoDecodesWholeWhatFitsAndTilesWhatDoesNot) {
  const RunPlan whole = plan_run(sd(), decode_of(64, 64), {.memory = 4 * kGiB, .threads = 2});
  EXPECT_EQ(whole.mode, Mode::kNone);
  EXPECT_THAT(whole.why, testing::HasSubstr("fits the budget of 4.00 GiB"));
  const RunPlan tiles = plan_run(sd(), decode_of(256, 256), {.memory = 4 * kGiB, .threads = 2});
  EXPECT_EQ(tiles.mode, Mode::kTile);
  EXPECT_THAT(tiles.why, testing::HasSubstr("is over the budget"));
}

TEST(PlanRun, EveryPlanIsPredictedToKeepItsBudget) {
  for (const double gib : {0.8, 1.0, 2.0, 4.0, 16.0})
    for (const int64_t size : {64, 100, 128, 300, 512})
      for (const int ranks : {1, 2, 4, 8}) {
        const auto budget = int64_t(gib * double(kGiB));
        try {
          const RunPlan p =
              plan_run(sd(), decode_of(size, size, ranks), {.memory = budget, .threads = 4});
          EXPECT_LE(p.peak_bytes, budget);
        } catch (const std::invalid_argument& e) {
          EXPECT_THAT(e.what(), testing::HasSubstr("no tile is small enough"));
        }
      }
}

TEST(PlanRun, LittleMemoryGivesSmallerTilesOrFewerAtOnce) {
  const RunPlan roomy = plan_run(sd(), decode_of(128, 128, 4),
                                 {.mode = Mode::kTile, .memory = 16 * kGiB, .threads = 4});
  const RunPlan tight =
      plan_run(sd(), decode_of(128, 128, 4), {.mode = Mode::kTile, .memory = kGiB, .threads = 4});
  EXPECT_EQ(roomy.grid.rows.size(), 3u);
  EXPECT_LT(tight.peak_bytes, roomy.peak_bytes);
  EXPECT_EQ(tight.owners.size(), 4u) << "ranks without tiles are still in the plan";
}

TEST(PlanRun, AnExplicitTileThatDoesNotFitIsRefusedWithOneThatDoes) {
  EXPECT_REFUSED(plan_run(sd(), decode_of(512, 512),
                          {.mode = Mode::kTile, .tiles = {.tile = 2048}, .memory = 2 * kGiB}),
                 "the largest that fit");
  EXPECT_REFUSED(plan_run(sd(), decode_of(512, 512), {.mode = Mode::kNone, .memory = 2 * kGiB}),
                 "use --mode auto");
  EXPECT_REFUSED(plan_run(sd(), decode_of(512, 512), {.memory = kGiB / 4}),
                 "no tile is small enough");
}

TEST(PlanRun, APictureNoLargerThanATileIsNotTiled) {
  const RunOptions tile{.mode = Mode::kTile};
  EXPECT_EQ(plan_run(sd(), decode_of(64, 64), tile).mode, Mode::kNone);
  EXPECT_EQ(plan_run(sd(), decode_of(64, 65), tile).mode, Mode::kTile);
  EXPECT_EQ(plan_run(sd(), decode_of(65, 10), tile).mode, Mode::kTile);
}

TEST(PlanRun, ThePlanOfTilesDoesNotDependOnTheRanks) {
  const RunOptions tile{.mode = Mode::kTile, .memory = 64 * kGiB, .threads = 2};
  const RunPlan one = plan_run(sd(), decode_of(115, 172, 1), tile);
  for (const int ranks : {2, 3, 4, 8, 20}) {
    const RunPlan many = plan_run(sd(), decode_of(115, 172, ranks), tile);
    EXPECT_EQ(many.grid.rows, one.grid.rows);
    EXPECT_EQ(many.grid.cols, one.grid.cols);
    EXPECT_EQ(many.threads_per_task, one.threads_per_task);
    EXPECT_EQ(int(many.owners.size()), ranks);
  }
  EXPECT_EQ(one.out_height, 920);
  EXPECT_EQ(one.out_width, 1376);
}

TEST(PlanRun, MorePartsThanRanksFallBackWithAWord) {
  const RunPlan p =
      plan_run(sd(), decode_of(128, 128, 2), {.mode = Mode::kTile, .parts = 7, .threads = 2});
  EXPECT_THAT(p.notes, testing::Contains("7 parts asked for, 2 used: the group has no more ranks"));
}

TEST(PlanRun, AConfigWithoutSampleSizeIsTiledByUsualTilesWithAWord) {
  const RunPlan p = plan_run(KlConfig{}, decode_of(128, 128), {.mode = Mode::kTile});
  EXPECT_EQ(p.grid.rows.size(), 3u);
  EXPECT_THAT(p.notes, testing::Contains(testing::HasSubstr("no sample_size")));
}

TEST(PlanRun, ThinLastEncodeTilesAreRefusedWithTheSizesThatWork) {
  KlConfig c = sd();
  c.sample_size = 64;
  const auto encode = [&](int64_t h, int64_t w) {
    return plan_run(c, {.direction = Direction::kEncode, .height = h, .width = w},
                    {.mode = Mode::kTile});
  };
  EXPECT_REFUSED(encode(100, 100), "a last tile of 4 pixels");
  EXPECT_REFUSED(encode(97, 64), "crop or pad it to 96 or 104");
  EXPECT_EQ(encode(96, 104).out_width, 13);
  EXPECT_REFUSED(encode(7, 100), "smaller than one latent unit");
}

TEST(PlanRun, PatchesAreForSmallPicturesOnly) {
  const RunOptions patch{.mode = Mode::kPatch};
  const RunPlan p = plan_run(sd(), decode_of(64, 64, 4), patch);
  EXPECT_EQ(p.patches.cells.size(), 4u);
  EXPECT_REFUSED(plan_run(sd(), decode_of(65, 64, 4), patch), "use --mode tile");
  EXPECT_REFUSED(
      plan_run(sd(), {.direction = Direction::kEncode, .height = 64, .width = 64}, patch),
      "only decodes");
}

TEST(PlanRun, NonsenseIsRefused) {
  EXPECT_REFUSED(plan_run(sd(), decode_of(0, 4), {}), "nothing to do");
  EXPECT_REFUSED(plan_run(sd(), decode_of(4, 4), {.parts = -1}), "parts is -1");
  EXPECT_REFUSED(plan_run(sd(), decode_of(4, 4), {.threads_per_tile = 0}), "use 1 or more");
  EXPECT_REFUSED(mode_of("tiles"), "use auto, none, tile or patch");
}

TEST(Cost, ParametersAreThoseOfTheRealModels) {
  EXPECT_EQ(parameter_count(sd(), Part::kBoth), 83'653'863);
  KlConfig flux = sd();
  flux.latent_channels = 16;
  flux.use_quant_conv = flux.use_post_quant_conv = false;
  EXPECT_EQ(parameter_count(flux, Part::kBoth), 83'819'683);
}

}  // namespace
}  // namespace intarsia::vae
