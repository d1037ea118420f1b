#include <intarsia/error.h>

#include <csignal>
#include <iostream>

#include "app/flags.h"
#include "app/verbs.h"
#include "aten.h"

namespace intarsia::app {
namespace {

/// The verb that was called; set by CLI11 while it parses.
using Verb = std::function<int()>;

void add_decode(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<DecodeArgs>();
  auto* v = group.add_subcommand("decode", "latents to pictures");
  v->add_option("MODEL", args->model, "diffusers folder, or a single .safetensors")->required();
  v->add_option("LATENT", args->latents, ".safetensors, .latent (ComfyUI), .npy or .pt")
      ->required();
  v->add_option("-o,--out", args->out,
                "picture (.png, .jpg), raw tensor (.safetensors, .npy) or folder")
      ->required();
  v->add_option("--latents", args->space, "what the file holds: model, scaled or packed")
      ->capture_default_str();
  v->add_option("--tensor", args->tensor, "which tensor of the file");
  v->add_option("--height", args->height, "pixels, for packed latents");
  v->add_option("--width", args->width, "pixels, for packed latents");
  v->add_option("--bits", args->bits, "of a PNG: 8 or 16")
      ->check(CLI::IsMember({8, 16}))
      ->capture_default_str();
  v->add_option("--jpeg-quality", args->jpeg_quality, "1 to 100")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  v->add_flag("--exact-dtype", args->exact,
              "convert to pixels in the arithmetic's dtype, as diffusers");
  v->add_flag("--broadcast", args->vae.broadcast, "give the result to every rank");
  v->add_flag("--timings", args->vae.timings, "busy, waiting, bytes and memory of each rank");
  add_vae(*v, args->vae);
  add_common(*v, args->common);
  add_example(*v,
              "intarsia vae decode assets/tiny-vae assets/tiny-vae/latents/coffee.safetensors "
              "-o coffee.png --ranks 4 --mode tile");
  v->callback([args, &verb] { verb = [args] { return vae_decode(*args); }; });
}

void add_encode_flags(CLI::App& v, EncodeArgs& args) {
  v.add_option("--latents", args.space, "what to write: model, scaled or packed")
      ->capture_default_str();
  v.add_option("--sample", args.sample,
               "draw from the posterior with this seed; left out: its mode");
  v.add_option("--fit", args.fit, "odd sizes: crop or pad to whole latent units")
      ->capture_default_str();
  v.add_option("--max-pixels", args.max_pixels, "larger pictures are refused")
      ->capture_default_str();
  v.add_flag("--timings", args.vae.timings, "busy, waiting, bytes and memory of each rank");
  add_vae(v, args.vae);
  add_common(v, args.common);
}

void add_encode(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<EncodeArgs>();
  auto* v = group.add_subcommand("encode", "pictures to latents");
  v->add_option("MODEL", args->model, "diffusers folder, or a single .safetensors")->required();
  v->add_option("PICTURE", args->pictures, "PNG or JPEG")->required();
  v->add_option("-o,--out", args->out, "latents (.safetensors, .npy) or folder")->required();
  add_encode_flags(*v, *args);
  add_example(*v,
              "intarsia vae encode assets/tiny-vae assets/tiny-vae/photos/coffee.png -o "
              "coffee.safetensors");
  v->callback([args, &verb] { verb = [args] { return vae_encode(*args); }; });
}

void add_roundtrip(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<RoundtripArgs>();
  auto* v = group.add_subcommand("roundtrip",
                                 "encode and decode pictures; PSNR, SSIM, both side by side");
  v->add_option("MODEL", args->encode.model, "diffusers folder, or a single .safetensors")
      ->required();
  v->add_option("PICTURE", args->encode.pictures, "PNG or JPEG")->required();
  v->add_option("-o,--out", args->encode.out, "picture with both side by side, or folder")
      ->required();
  add_encode_flags(*v, args->encode);
  add_example(
      *v, "intarsia vae roundtrip assets/tiny-vae assets/tiny-vae/photos/chelsea.png -o both.png");
  v->callback([args, &verb] { verb = [args] { return vae_roundtrip(*args); }; });
}

void add_compare(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<CompareArgs>();
  auto* v = group.add_subcommand(
      "compare", "two pictures or tensors; or, with --settings, MODEL LATENT under two settings");
  v->add_option("A", args->first_input, "picture or tensor; with --settings the model")->required();
  v->add_option("B", args->second_input, "picture or tensor; with --settings the latent")
      ->required();
  v->add_option("-o,--out", args->out, "heat map of the differences (.png)");
  v->add_flag("--settings", args->settings, "decode one latent twice: --mode … against --b-mode …");
  v->add_option("--tolerance", args->tolerance,
                "largest difference that counts as equal (of 255, or of the tensors)")
      ->capture_default_str();
  v->add_flag("--seams", args->seams, "mark tile borders, and measure the step across them");
  v->add_option("--seam-every", args->seam_every, "pixels between tile borders, for two files");
  v->add_option("--latents", args->space, "with --settings: model, scaled or packed")
      ->capture_default_str();
  add_vae(*v, args->first);
  add_vae(*v, args->second, "b-");
  add_common(*v, args->common);
  add_example(
      *v,
      "intarsia vae compare --settings assets/tiny-vae assets/tiny-vae/latents/coffee.safetensors "
      "--mode none --b-mode tile --seams --tolerance 40 -o difference.png");
  v->callback([args, &verb] { verb = [args] { return vae_compare(*args); }; });
}

void add_plan(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<PlanArgs>();
  auto* v = group.add_subcommand(
      "plan", "what would be cut, who does what, how much memory; no weights are read");
  v->add_option("MODEL", args->model, "diffusers folder or its config.json")->required();
  v->add_option("--size", args->size, "WIDTHxHEIGHT in pixels")->required();
  v->add_option("--batch", args->batch, "pictures at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  v->add_flag("--encode", args->encode, "plan encoding instead of decoding");
  v->add_option("-o,--out", args->out, "picture of the tiles and their ranks (.png)");
  add_vae(*v, args->vae);
  add_common(*v, args->common);
  add_example(
      *v, "intarsia vae plan assets/tiny-vae --size 1536x1024 --ranks 4 --mode tile -o plan.png");
  v->callback([args, &verb] { verb = [args] { return vae_plan(*args); }; });
}

void add_vision_encode(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<VisionEncodeArgs>();
  auto* v = group.add_subcommand("encode", "pictures and videos to embeddings");
  v->add_option("MODEL", args->model, "a model's folder (Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3.5)")
      ->required();
  v->add_option("FILE", args->files, "PNG, JPEG, a video, or a folder of frames")->required();
  v->add_option("-o,--out", args->out,
                "embeddings: one .safetensors (.npy for one item), or a folder")
      ->required();
  v->add_flag("--jsonl", args->jsonl, "a line of JSON for each item");
  v->add_flag("--similarity", args->similarity, "cosines of the items' mean rows");
  v->add_option("--metrics", args->metrics, "a file in Prometheus' text format");
  v->add_flag("--timings", args->timings, "busy, in collectives and bytes of each rank");
  add_vision(*v, args->flags);
  add_common(*v, args->common);
  add_example(
      *v,
      "intarsia vision encode assets/shapes-vl assets/shapes-vl/scenes/*.png -o embeddings/ "
      "--ranks 4 --tp 2 --similarity");
  v->callback([args, &verb] { verb = [args] { return vision_encode(*args); }; });
}

void add_vision_plan(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<VisionPlanArgs>();
  auto* v = group.add_subcommand(
      "plan", "grids, rows, blocks, who runs what; from headers, no weights are read");
  v->add_option("MODEL", args->model, "a model's folder")->required();
  v->add_option("FILE", args->files, "PNG, JPEG, a video, or a folder of frames")->required();
  v->add_option("-o,--out", args->out, "picture of the ranks' work (.png)");
  add_vision(*v, args->flags);
  add_common(*v, args->common);
  add_example(
      *v,
      "intarsia vision plan assets/shapes-vl assets/shapes-vl/scenes/*.png --ranks 4 --packing "
      "blocks --block-size 1024");
  v->callback([args, &verb] { verb = [args] { return vision_plan(*args); }; });
}

void add_vision_bench(CLI::App& group, Verb& verb) {
  auto args = std::make_shared<VisionBenchArgs>();
  auto* v = group.add_subcommand("bench", "time of every tp x dp, in turns, on a mix of sizes");
  v->add_option("MODEL", args->model, "a model's folder")->required();
  v->add_option("--mix", args->mix, "WIDTHxHEIGHT:COUNT, separated by commas")
      ->capture_default_str();
  v->add_option("--block-size", args->block_size, "also with blocks of so many patches; 0: not")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  v->add_option("--rounds", args->rounds, "how often each is run")->capture_default_str();
  add_common(*v, args->common);
  add_example(*v, "intarsia vision bench assets/shapes-vl --ranks 2");
  v->callback([args, &verb] { verb = [args] { return vision_bench(*args); }; });
}

void add_verify(CLI::App& app, Verb& verb) {
  auto args = std::make_shared<VerifyArgs>();
  auto* v = app.add_subcommand("verify",
                               "run the reference cases of a folder (model, cases.json, tensors)");
  v->add_option("DIR", args->folder, "folder with cases.json")->required();
  v->add_option("--filter", args->filter, "only cases with this in their name");
  v->add_option("--tp", args->tp, "vision encoders: ranks that share one copy of the weights")
      ->check(CLI::Range(1, 1024));
  add_common(*v, args->common);
  add_example(*v, "intarsia verify tests/data/vae/kl_sd --ranks 4");
  v->callback([args, &verb] { verb = [args] { return verify(*args); }; });
}

void add_info(CLI::App& app, Verb& verb) {
  auto args = std::make_shared<InfoArgs>();
  auto* v = app.add_subcommand("info", "what a checkpoint holds, and what it will be run as");
  v->add_option("MODEL", args->model, "folder or file")->required();
  v->add_flag("--tensors", args->tensors, "every tensor with dtype and shape");
  v->add_flag("--json", args->common.json, "as JSON");
  add_example(*v, "intarsia info assets/tiny-vae");
  v->callback([args, &verb] { verb = [args] { return info(*args); }; });
}

/// Under MPI only rank 0 speaks of a mistake that all ranks made or heard of; losing touch with
/// peers is everyone's own news.
void complain(const std::string& what, bool everyone) {
  if (everyone || launcher_rank() == 0) std::cerr << "intarsia: " + what + "\n" << std::flush;
}

int run(const Verb& verb) {
  try {
    return verb();
  } catch (const CommError& e) {
    complain(e.what(), true);
    return 3;
  } catch (const std::invalid_argument& e) {
    complain(e.what(), false);
    return 2;
  } catch (const c10::Error& e) {
    complain(e.what_without_backtrace(), false);
    return 1;
  } catch (const std::exception& e) {
    complain(e.what(), false);
    return 1;
  }
}

int main(int argc, char** argv) {
  CLI::App app(
      "Intarsia: a whole is cut into parts, ranks run the parts, the parts are joined again.");
  app.name("intarsia");
  app.set_version_flag("--version", "intarsia " INTARSIA_VERSION);
  app.require_subcommand(1);
  Verb verb;
  auto* group =
      app.add_subcommand("vae", "decode and encode pictures in tiles, on any number of ranks");
  group->require_subcommand(1);
  add_decode(*group, verb);
  add_encode(*group, verb);
  add_roundtrip(*group, verb);
  add_compare(*group, verb);
  add_plan(*group, verb);
  auto* vision = app.add_subcommand("vision", "encode pictures and videos on tp x dp ranks");
  vision->require_subcommand(1);
  add_vision_encode(*vision, verb);
  add_vision_plan(*vision, verb);
  add_vision_bench(*vision, verb);
  add_verify(app, verb);
  add_info(app, verb);
  app.footer(
      "Example:\n  intarsia vae decode assets/tiny-vae assets/tiny-vae/latents/coffee.safetensors "
      "-o coffee.png");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (launcher_rank() != 0) return e.get_exit_code() == 0 ? 0 : 2;
    return app.exit(e) == 0 ? 0 : 2;
  }
  const int code = run(verb);
  if (code != 0) launch::abandon(code);
  return code;
}

}  // namespace
}  // namespace intarsia::app

int main(int argc, char** argv) { return intarsia::app::main(argc, argv); }
