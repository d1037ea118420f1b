#include "app/flags.h"

namespace intarsia::app {

void add_common(CLI::App& verb, Common& c) {
  verb.add_option("--ranks", c.ranks,
                  "ranks: threads of this process; under mpirun or srun leave it out")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--threads", c.threads,
                  "compute threads of this host, shared by its ranks; 0: all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  verb.add_option("--device", c.device, "cpu or cuda")->capture_default_str();
  verb.add_option("--dtype", c.dtype, "arithmetic: float32, bfloat16 or float16")
      ->capture_default_str();
  verb.add_option("--timeout", c.timeout, "seconds to wait for a rank before all end")
      ->capture_default_str();
  verb.add_flag("--no-check", c.no_check, "do not compare operation and shape across ranks first");
  verb.add_flag("--json", c.json, "results as JSON on stdout");
  verb.add_flag("-q,--quiet", c.quiet, "no messages and no progress bar on stderr");
}

void add_vae(CLI::App& verb, VaeFlags& f, const std::string& prefix) {
  const auto flag = [&](const char* name) { return "--" + prefix + name; };
  verb.add_option(flag("mode"), f.mode, "auto, none (whole), tile or patch")->capture_default_str();
  verb.add_option(flag("tile"), f.tile, "tile size in pixels; left out: the model's");
  verb.add_option(flag("overlap"), f.overlap, "overlap as a share of a tile; 0: no blending")
      ->capture_default_str();
  if (!prefix.empty()) return;
  verb.add_option("--memory", f.memory,
                  "peak memory of the process, as 2GiB; left out: what is free")
      ->check(CLI::Validator([](std::string& text) { return text.empty() ? "it is empty" : ""; },
                             "SIZE"));
  verb.add_option("--parts", f.parts, "ranks that get tiles; 0: all")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  verb.add_option("--threads-per-tile", f.threads_per_tile, "threads that compute one tile")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

void add_vision(CLI::App& verb, VisionFlags& f) {
  verb.add_option("--tp", f.tp, "ranks that share one copy of the weights")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--dp", f.dp, "copies of the weights; left out: ranks / tp")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--tp-fallback", f.tp_fallback,
                  "a tp that does not divide the model: refuse, or replicate it on every rank")
      ->capture_default_str();
  verb.add_option("--packing", f.packing,
                  "none (each item at its own size) or blocks (of one size, with padding)")
      ->capture_default_str();
  verb.add_option("--block-size", f.block_size, "patches of a block")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  verb.add_option("--buckets", f.buckets,
                  "with blocks: allowed totals of patches, as 2048,8192; left out: powers of two");
  verb.add_option("--split", f.split,
                  "share one large item among the dp ranks: auto, never or always")
      ->capture_default_str();
  verb.add_option("--resize", f.resize, "pillow, pillow-12 or torchvision, as transformers has it")
      ->capture_default_str();
  verb.add_option("--max-pixels", f.max_pixels, "larger pictures and frames are refused")
      ->capture_default_str();
}

void add_example(CLI::App& verb, const std::string& command) {
  verb.footer("Example:\n  " + command);
}

}  // namespace intarsia::app
