// Decodes one latent on some ranks: consumer MODEL LATENT OUT.png RANKS
#include <intarsia/intarsia.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: consumer MODEL LATENT OUT.png RANKS\n";
    return 2;
  }
  namespace vae = intarsia::vae;
  const auto model = vae::AutoencoderKL::load(argv[1], {.part = vae::Part::kDecoder});
  const auto z = intarsia::read_tensor(argv[2]).tensor;
  intarsia::launch::run(std::atoi(argv[4]), [&](intarsia::Group& group) {
    const auto out = model.decode(z, group, {.mode = vae::Mode::kTile});
    if (group.rank() != 0) return;
    intarsia::write_picture(argv[3], vae::to_pixels(out.sample));
    std::cout << argv[3] << ": " << out.plan.grid.count() << " tiles on " << group.size()
              << " ranks\n";
  });
}
