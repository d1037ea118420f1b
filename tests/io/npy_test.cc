#include "io/npy.h"

#include <intarsia/tensor_file.h>

#include "io/files.h"

namespace intarsia::test {
namespace {

at::Tensor read(const std::string& name) { return read_tensor(io_data(name)).tensor; }

// A version 1 file.
at::Tensor read_raw(const std::string& dict, const std::string& data = "") {
  const auto length = static_cast<uint16_t>(dict.size());
  const std::string bytes = std::string(io::kNpyMagic) + std::string("\1\0", 2) +
                            std::string(reinterpret_cast<const char*>(&length), 2) + dict + data;
  return io::read_npy(bytes, "x.npy");
}

std::string dict(const std::string& descr, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
}

const std::map<std::string, at::ScalarType> kTypes = {
    {"f2", at::kHalf},         {"f4", at::kFloat},         {"f8", at::kDouble}, {"i1", at::kChar},
    {"i2", at::kShort},        {"i4", at::kInt},           {"i8", at::kLong},   {"u1", at::kByte},
    {"u2", at::kUInt16},       {"u4", at::kUInt32},        {"u8", at::kUInt64}, {"b1", at::kBool},
    {"c8", at::kComplexFloat}, {"c16", at::kComplexDouble}};

TEST(Npy, EveryDtypeOfNumpyIsRead) {
  for (const auto& [name, dtype] : kTypes)
    EXPECT_TENSOR_EQ(read(name + ".npy"), counted(dtype)) << name;
}

TEST(Npy, BothOrdersAndAllVersionsAreRead) {
  for (const std::string name : {"big.npy", "fortran.npy", "v2.npy", "v3.npy"}) {
    EXPECT_TENSOR_EQ(read(name), counted()) << name;
    EXPECT_TRUE(read(name).is_contiguous());
  }
  EXPECT_TENSOR_EQ(read("big_c8.npy"), at::complex(counted(), counted()));
  EXPECT_TENSOR_EQ(read("scalar.npy"), at::scalar_tensor(7.0F));
  EXPECT_EQ(read("none.npy").sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(Npy, WhatHoldsNoNumbersIsRefused) {
  EXPECT_REFUSED(read("object.npy"), "holds Python objects");
  EXPECT_REFUSED(read("record.npy"), "holds records");
  EXPECT_REFUSED(read("text.npy"), "dtype '<U2', which is not supported");
  EXPECT_REFUSED(read_tensor(io_data("f4.npy"), "a"), "which has no names");
}

TEST(Npy, LiteralsMayBeWrittenInAnyWay) {
  const std::string four("\0\0\x80\x3f", 4);
  const auto expected = at::ones({1});
  EXPECT_TENSOR_EQ(read_raw(dict("'<f4'", "(1,)"), four), expected);
  EXPECT_TENSOR_EQ(read_raw(dict("\"<f4\"", "( 1L , )"), four), expected);
  EXPECT_TENSOR_EQ(read_raw(dict("'=f4'", "(1)"), four), expected);
  EXPECT_TENSOR_EQ(read_raw("{'shape':(1,),'fortran_order':True,'descr':'<f4'}", four), expected);
}

TEST(Npy, BrokenHeadersAreRefused) {
  EXPECT_REFUSED(read_raw(""), "'{' is missing");
  EXPECT_REFUSED(read_raw("{'descr"), "a text has no end");
  EXPECT_REFUSED(read_raw("{descr: 1}"), "a text is missing");
  EXPECT_REFUSED(read_raw("{'descr': '<f4'}"), "lacks descr, fortran_order or shape");
  EXPECT_REFUSED(read_raw("{'descr': '<f4', 'descr': '<f4'}"), "says 'descr' twice");
  EXPECT_REFUSED(read_raw("{'other': '<f4'}"), "unknown key 'other'");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(1,)") + "x"), "text follows its dict");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(-1,)")), "no number from 0 up");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(1 2)")), "')' is missing");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "1")), "'(' is missing");
  EXPECT_REFUSED(read_raw(dict("'f4'", "(1,)")), "without a byte order");
  EXPECT_REFUSED(read_raw(dict("'|f4'", "(1,)")), "without a byte order");
  EXPECT_REFUSED(read_raw(dict("'<V2'", "(1,)")), "not supported");
  EXPECT_REFUSED(read_raw(dict("''", "(1,)")), "not supported");
}

TEST(Npy, SizesAreCheckedBeforeMemoryIsTaken) {
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(99999999999999999999,)")), "beyond 63 bits");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(4294967296, 4294967296)")), "larger than 63 bits");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(0, 4294967296, 4294967296)")), "larger than 63 bits");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(1000000000000,)")), "is truncated");
  EXPECT_REFUSED(read_raw(dict("'<f4'", "(1,)"), "12345"), "1 bytes after its array");
  EXPECT_REFUSED(io::read_npy("\x93NUMPY\4\0\0\0\0\0", "x"), "truncated");
  EXPECT_REFUSED(io::read_npy(std::string("\x93NUMPY\4\0\0\0\0\0", 12), "x"), "version 4");
}

TEST(Npy, AFileCutAnywhereIsRefused) {
  for (const std::string name : {"f4.npy", "big.npy", "v2.npy", "fortran.npy"})
    expect_cuts_refused(io_data(name), 1, [](const auto& path) { read_tensor(path); });
}

TEST(Npy, DamagedBytesNeverCrash) {
  expect_damage_survived(io_data("fortran.npy"), [](const auto& path) { read_tensor(path); });
}

TEST(Npy, WrittenArraysComeBack) {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.npy";
  for (const auto& [name, dtype] : kTypes) {
    write_npy(path, counted(dtype).permute({2, 0, 1}));
    EXPECT_TENSOR_EQ(read_tensor(path).tensor, counted(dtype).permute({2, 0, 1}).contiguous());
  }
  for (const auto& tensor : {at::scalar_tensor(3.0), at::empty({0, 2}), at::ones({1})}) {
    write_npy(path, tensor);
    EXPECT_TENSOR_EQ(read_tensor(path).tensor, tensor);
  }
}

TEST(Npy, WrittenBytesAreThoseOfNumpy) {
  const TemporaryFolder folder;
  write_npy(folder.path / "x.npy", counted());
  const auto ours = read_bytes(folder.path / "x.npy");
  EXPECT_EQ(ours.size(), read_bytes(io_data("f4.npy")).size());
  EXPECT_EQ(ours.substr(128), read_bytes(io_data("f4.npy")).substr(128));
}

TEST(Npy, TypesThatNumpyLacksAreWidened) {
  const TemporaryFolder folder;
  for (const auto dtype : {at::kBFloat16, at::kFloat8_e4m3fn}) {
    write_npy(folder.path / "x.npy", counted(dtype));
    EXPECT_TENSOR_EQ(read_tensor(folder.path / "x.npy").tensor, counted(dtype).to(at::kFloat));
  }
  EXPECT_REFUSED(write_npy(folder.path / "y.npy", at::Tensor()), "undefined");
  EXPECT_REFUSED(write_npy(folder.path / "y.npy", counted().to_sparse()), "not dense");
  EXPECT_FALSE(std::filesystem::exists(folder.path / "y.npy"));
}

}  // namespace
}  // namespace intarsia::test
