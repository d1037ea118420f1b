#include <lcms2.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "check.h"
#include "io/icc.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

struct CloseProfile {
  void operator()(void* profile) const { cmsCloseProfile(profile); }
};
struct DeleteTransform {
  void operator()(void* transform) const { cmsDeleteTransform(transform); }
};
using Profile = std::unique_ptr<void, CloseProfile>;
using Transform = std::unique_ptr<void, DeleteTransform>;

class Lcms : public ToSrgb {
 public:
  explicit Lcms(Transform transform) : transform_(std::move(transform)) {}
  void row(const uint8_t* samples, uint8_t* rgb, int64_t width) const override {
    cmsDoTransform(transform_.get(), samples, rgb, static_cast<cmsUInt32Number>(width));
  }

 private:
  Transform transform_;
};

cmsUInt32Number input_format(Inks inks, bool alpha, int bits) {
  const auto bytes = static_cast<cmsUInt32Number>(bits / 8);
  const auto extra = static_cast<cmsUInt32Number>(alpha ? 1 : 0);
  const cmsUInt32Number format = BYTES_SH(bytes) | EXTRA_SH(extra);
  switch (inks) {
    case Inks::kGrey:
      return format | COLORSPACE_SH(PT_GRAY) | CHANNELS_SH(1);
    case Inks::kRgb:
      return format | COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3);
    default:  // FLAVOR: 255 is no ink
      return format | COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | FLAVOR_SH(1);
  }
}

cmsColorSpaceSignature space_of(Inks inks) {
  return inks == Inks::kGrey ? cmsSigGrayData : inks == Inks::kRgb ? cmsSigRgbData : cmsSigCmykData;
}

Transform transform_to_srgb(void* profile, Inks inks, bool alpha, int bits) {
  const Profile srgb(cmsCreate_sRGBProfile());
  const cmsUInt32Number out = bits == 16 ? TYPE_RGB_16 : TYPE_RGB_8;
  return Transform(cmsCreateTransform(profile, input_format(inks, alpha, bits), srgb.get(), out,
                                      INTENT_PERCEPTUAL, 0));
}

// Greys and a grid of colours come out as they went in, up to the rounding of the profiles in use.
bool is_srgb(void* profile) {
  const Transform transform = transform_to_srgb(profile, Inks::kRgb, false, 8);
  if (!transform) return false;
  std::vector<uint8_t> probe;
  for (int grey = 0; grey < 256; ++grey) probe.insert(probe.end(), 3, static_cast<uint8_t>(grey));
  for (int i = 0; i < 6 * 6 * 6; ++i)
    for (const int level : {i % 6, i / 6 % 6, i / 36})
      probe.push_back(static_cast<uint8_t>(level * 51));
  std::vector<uint8_t> out(probe.size());
  cmsDoTransform(transform.get(), probe.data(), out.data(),
                 static_cast<cmsUInt32Number>(probe.size() / 3));
  constexpr int kRounding = 2;
  return std::equal(probe.begin(), probe.end(), out.begin(),
                    [](int a, int b) { return std::abs(a - b) <= kRounding; });
}

std::string title(void* profile) {
  std::array<char, 128> text{};
  cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", text.data(), text.size() - 1);
  return text[0] == '\0' ? "without a name" : in_quotes(text.data());
}

}  // namespace

std::unique_ptr<ToSrgb> to_srgb(const PictureHeader& header, std::vector<std::string>& notes) {
  if (header.icc.empty()) return nullptr;
  const Profile profile(
      cmsOpenProfileFromMem(header.icc.data(), static_cast<cmsUInt32Number>(header.icc.size())));
  if (!profile) {
    notes.emplace_back("its colour profile is broken and was ignored");
    return nullptr;
  }
  const std::string name = "its colour profile " + title(profile.get());
  if (cmsGetColorSpace(profile.get()) != space_of(header.inks)) {
    notes.push_back(name + " is for other inks than the picture's and was ignored");
    return nullptr;
  }
  if (header.inks == Inks::kRgb && is_srgb(profile.get())) return nullptr;
  Transform transform = transform_to_srgb(profile.get(), header.inks, header.alpha, header.bits);
  if (!transform) {
    notes.push_back(name + " cannot be used and was ignored");
    return nullptr;
  }
  notes.push_back(name + " was converted to sRGB");
  return std::make_unique<Lcms>(std::move(transform));
}

}  // namespace intarsia::io
