#include "io/safetensors.h"

#include <intarsia/tensor_file.h>
#include <sys/stat.h>

#include "io/dtypes.h"
#include "io/files.h"

namespace intarsia::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// `header` and `buffer` as a file, opened.
void open_raw(const std::string& header, const std::string& buffer = "") {
  const TemporaryFolder folder;
  io::open_safetensors(write_bytes(folder.path / "x.safetensors", raw_safetensors(header, buffer)));
}

void open_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  io::open_safetensors(write_bytes(folder.path / "x.safetensors", bytes));
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

constexpr at::ScalarType kDtypes[] = {
    at::kDouble, at::kFloat,        at::kHalf,          at::kBFloat16,   at::kLong,   at::kInt,
    at::kShort,  at::kChar,         at::kByte,          at::kBool,       at::kUInt16, at::kUInt32,
    at::kUInt64, at::kComplexFloat, at::kFloat8_e4m3fn, at::kFloat8_e5m2};

TEST(Safetensors, EveryDtypeComesBackBitByBit) {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto dtype : kDtypes) tensors.emplace_back(*io::name_of(dtype), counted(dtype));
  write_safetensors(folder.path / "all.safetensors", tensors, {{"format", "pt"}});
  const auto back = read_tensors(folder.path / "all.safetensors");
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) EXPECT_TENSOR_EQ(back.at(name), tensor) << name;
}

TEST(Safetensors, AnyStridesScalarsAndEmptyTensorsAreWritten) {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.safetensors";
  const auto permuted = counted().permute({2, 0, 1}).slice(0, 1);
  const auto lazy = at::complex(counted(), counted()).conj();
  write_safetensors(path, {{"permuted", permuted},
                           {"scalar", at::scalar_tensor(7.0)},
                           {"empty", at::empty({0, 5})},
                           {"expanded", at::ones({1}).expand({4})},
                           {"conj", lazy},
                           {"no_grad", counted().set_requires_grad(true)}});
  const auto back = read_tensors(path);
  EXPECT_TENSOR_EQ(back.at("permuted"), permuted.contiguous());
  EXPECT_TENSOR_EQ(back.at("scalar"), at::scalar_tensor(7.0));
  EXPECT_EQ(back.at("empty").sizes(), (std::vector<int64_t>{0, 5}));
  EXPECT_TENSOR_EQ(back.at("expanded"), at::ones({4}));
  EXPECT_TENSOR_EQ(back.at("conj"), lazy.resolve_conj());
  EXPECT_TENSOR_EQ(back.at("no_grad"), counted());
}

TEST(Safetensors, NothingAtAllIsAFileToo) {
  const TemporaryFolder folder;
  write_safetensors(folder.path / "x.safetensors", {}, {{"k", "v"}});
  const auto file = io::open_safetensors(folder.path / "x.safetensors");
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_EQ(file.metadata.at("k"), "v");
}

TEST(Safetensors, EveryTensorIsWrittenAligned) {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.safetensors";
  write_safetensors(path, {{"byte", at::ones({3}, at::kByte)},
                           {"f64", counted(at::kDouble)},
                           {"half", at::ones({1}, at::kHalf)},
                           {"f32", at::ones({1}, at::kFloat)}});
  for (const auto& [name, stored] : io::open_safetensors(path).tensors)
    EXPECT_EQ(stored.offset % static_cast<int64_t>(c10::elementSize(stored.info.dtype)), 0) << name;
}

TEST(Safetensors, WhatCannotBeWrittenIsRefusedAndLeavesNoFile) {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.safetensors";
  EXPECT_REFUSED(write_safetensors(path, {{"a", at::Tensor()}}), "'a' is undefined");
  EXPECT_REFUSED(write_safetensors(path, {{"a", counted()}, {"a", counted()}}), "given twice");
  EXPECT_REFUSED(write_safetensors(path, {{"__metadata__", counted()}}), "name of the metadata");
  EXPECT_REFUSED(write_safetensors(path, {{"a", counted(at::kComplexDouble)}}), "cannot hold");
  EXPECT_REFUSED(write_safetensors(path, {{"a", counted().to_sparse()}}), "not dense");
  EXPECT_REFUSED(write_safetensors(path, {{"\xff", counted()}}), "not UTF-8");
  EXPECT_REFUSED(write_safetensors(folder.path / "no" / "x", {{"a", counted()}}), "cannot write");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

TEST(Safetensors, MisalignedTensorsAreRead) {
  const TemporaryFolder folder;
  const float values[] = {1.5F, -2.5F};
  const std::string buffer(reinterpret_cast<const char*>(values), sizeof values);
  for (int pad = 0; pad < 8; ++pad) {
    const auto path =
        write_bytes(folder.path / "x.safetensors",
                    raw_safetensors(one("F32", "[2]", "[0,8]") + std::string(pad, ' '), buffer));
    const auto file = io::open_safetensors(path);
    const auto expected = at::tensor({1.5F, -2.5F});
    EXPECT_TENSOR_EQ(io::view_of(file.file, file.tensors.at("a"), "a"), expected);
    EXPECT_TENSOR_EQ(io::copy_of(*file.file, file.tensors.at("a"), "a"), expected);
    EXPECT_TENSOR_EQ(io::copy_of(*file.file, file.tensors.at("a"), "a", 0, {{1, 2}}),
                     expected.slice(0, 1));
  }
}

TEST(Safetensors, ViewsOutliveTheFile) {
  const TemporaryFolder folder;
  write_safetensors(folder.path / "x.safetensors", {{"a", counted()}});
  at::Tensor view;
  {
    const auto file = io::open_safetensors(folder.path / "x.safetensors");
    view = io::view_of(file.file, file.tensors.at("a"), "a");
    EXPECT_EQ(view.data_ptr(), file.file->bytes().data() + file.tensors.at("a").offset);
  }
  EXPECT_TENSOR_EQ(view, counted());
}

TEST(Safetensors, HeaderLengthsThatCannotBeAreRefused) {
  const std::string zero(8, '\0');
  EXPECT_REFUSED(open_bytes(zero + "{}"), "length 0");
  EXPECT_REFUSED(open_bytes(std::string(8, '\xff') + "{}"), "18446744073709551615 bytes long");
  const uint64_t large = 100'000'001;
  EXPECT_REFUSED(open_bytes(std::string(reinterpret_cast<const char*>(&large), 8) + "{}"),
                 "the format ends at 100000000");
  const uint64_t beyond = 3;
  EXPECT_REFUSED(open_bytes(std::string(reinterpret_cast<const char*>(&beyond), 8) + "{}"),
                 "does not fit into a file of 10");
  EXPECT_REFUSED(open_bytes("\x02"), "truncated");
  EXPECT_REFUSED(open_bytes(""), "is empty");
}

TEST(Safetensors, BrokenJsonIsRefused) {
  EXPECT_REFUSED(open_raw("{"), "not valid JSON");
  EXPECT_REFUSED(open_raw("{} x"), "not valid JSON");
  EXPECT_REFUSED(open_raw("{\"a\":1}"), "tensor 'a' is not described by an object");
  EXPECT_REFUSED(open_raw("{\"\xff\":{}}"), "not valid JSON");
  EXPECT_REFUSED(open_raw("[1]"), "does not start with '{'");
  EXPECT_REFUSED(open_raw("{\"a\":" + std::string(5'000'000, '[')), "nested deeper");
  std::string objects;
  for (int i = 0; i < 300'000; ++i) objects += "{\"a\":";
  EXPECT_REFUSED(open_raw(objects), "nested deeper");
}

TEST(Safetensors, DuplicateKeysAreRefused) {
  const std::string entry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_REFUSED(open_raw("{" + entry + "," + entry + "}", "x"), "the key 'a' stands twice");
  EXPECT_REFUSED(
      open_raw(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", "x"),
      "the key 'dtype' stands twice");
}

TEST(Safetensors, OffsetsMustTileTheBuffer) {
  const auto two = [](const std::string& a, const std::string& b, const std::string& buffer) {
    open_raw(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + a +
                 R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}",
             buffer);
  };
  EXPECT_NO_THROW(two("[0,2]", "[2,4]", "abcd"));
  EXPECT_NO_THROW(two("[2,4]", "[0,2]", "abcd"));
  EXPECT_REFUSED(two("[0,2]", "[1,3]", "abc"), "overlaps");
  EXPECT_REFUSED(two("[0,2]", "[0,2]", "ab"), "overlaps");
  EXPECT_REFUSED(two("[0,2]", "[3,5]", "abcde"), "bytes [2, 3) of the buffer belong to no tensor");
  EXPECT_REFUSED(two("[0,2]", "[2,4]", "abcde"), "the last 1 bytes belong to no tensor");
  EXPECT_REFUSED(two("[0,2]", "[2,4]", "abc"), "ends at byte 4 of a buffer of 3");
  EXPECT_REFUSED(two("[2,0]", "[2,4]", "abcd"), "run backwards");
  EXPECT_REFUSED(open_raw("{}", "x"), "the last 1 bytes");
}

TEST(Safetensors, SizesMustFollowFromShapeAndDtype) {
  EXPECT_REFUSED(open_raw(one("F32", "[2]", "[0,4]"), "abcd"), "is 8 bytes");
  EXPECT_REFUSED(open_raw(one("F32", "[-1]", "[0,4]"), "abcd"), "negative");
  EXPECT_REFUSED(open_raw(one("F32", "[1.0]", "[0,4]"), "abcd"), "not a whole number");
  EXPECT_REFUSED(open_raw(one("F32", "[1e0]", "[0,4]"), "abcd"), "not a whole number");
  EXPECT_REFUSED(open_raw(one("F32", "[\"1\"]", "[0,4]"), "abcd"), "not a whole number");
  EXPECT_REFUSED(open_raw(one("F32", "1", "[0,4]"), "abcd"), "not a list");
  EXPECT_REFUSED(open_raw(one("U8", "[18446744073709551615]", "[0,1]"), "a"), "beyond 63 bits");
  EXPECT_REFUSED(open_raw(one("U8", "[99999999999999999999]", "[0,1]"), "a"), "whole number");
  // 2³² · 2³² wraps to 0 in 64 bits, and 2⁶² · 4 to 0 as well.
  EXPECT_REFUSED(open_raw(one("U8", "[4294967296,4294967296]", "[0,0]")), "larger than 63 bits");
  EXPECT_REFUSED(open_raw(one("F32", "[4611686018427387904]", "[0,0]")), "larger than 63 bits");
  EXPECT_REFUSED(open_raw(one("U8", "[0,4294967296,4294967296]", "[0,0]")), "larger than 63 bits");
  EXPECT_REFUSED(open_raw(one("U8", "[0,0]", "[0]")), "not two numbers");
  EXPECT_REFUSED(open_raw(one("U8", "[0]", "[0,-1]")), "negative");
  EXPECT_REFUSED(open_raw(one("U8", "[0]", "[9223372036854775807,9223372036854775807]")),
                 "of a buffer of 0");
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ",1";
  EXPECT_REFUSED(open_raw(one("U8", many + "]", "[0,1]"), "a"), "65 axes");
}

TEST(Safetensors, MissingFieldsAndUnknownDtypesAreNamed) {
  EXPECT_REFUSED(open_raw(R"({"a":{"shape":[1],"data_offsets":[0,1]}})", "x"), "no 'dtype'");
  EXPECT_REFUSED(open_raw(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", "x"), "no 'shape'");
  EXPECT_REFUSED(open_raw(R"({"a":{"dtype":"U8","shape":[1]}})", "x"), "no 'data_offsets'");
  EXPECT_REFUSED(open_raw(R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", "x"), "a text");
  EXPECT_REFUSED(open_raw(one("F4", "[2]", "[0,1]"), "a"), "dtype 'F4', which is not supported");
}

TEST(Safetensors, MetadataMustBeTexts) {
  EXPECT_REFUSED(open_raw(R"({"__metadata__":{"a":1}})"), "__metadata__ 'a' is not a text");
  EXPECT_REFUSED(open_raw(R"({"__metadata__":[]})"), "not an object");
}

TEST(Safetensors, BoolsOtherThanZeroAndOneAreRefusedWhenRead) {
  const TemporaryFolder folder;
  const auto path = write_bytes(folder.path / "x.safetensors",
                                raw_safetensors(one("BOOL", "[3]", "[0,3]"), "\1\2\1"));
  const auto file = io::open_safetensors(path);
  const auto& stored = file.tensors.at("a");
  EXPECT_REFUSED(io::view_of(file.file, stored, "a"), "element 1 of a bool");
  EXPECT_REFUSED(io::copy_of(*file.file, stored, "a"), "element 1 of a bool");
  EXPECT_REFUSED(io::copy_of(*file.file, stored, "a", 0, {{1, 2}}), "element 0 of a bool");
}

TEST(Safetensors, OtherFilesAreCalledByTheirName) {
  EXPECT_REFUSED(open_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"),
                 "git lfs pull");
  EXPECT_REFUSED(open_bytes("\x89PNG\r\n\x1a\nIHDR"), "a PNG picture");
  EXPECT_REFUSED(open_bytes("\n<!DOCTYPE HTML>\n<html>"), "an HTML page");
  EXPECT_REFUSED(open_bytes("{\"weight_map\": {}}"), "a JSON text");
  EXPECT_REFUSED(open_bytes("once upon a time"), "a text file");
  EXPECT_REFUSED(open_bytes("PK\x03\x04............"), "a zip archive");
  EXPECT_REFUSED(open_bytes("\x80\x02}q.............."), "pickle");
}

TEST(Safetensors, FilesThatCannotBeReadAreRefused) {
  const TemporaryFolder folder;
  EXPECT_REFUSED(io::open_safetensors(folder.path / "none"), "No such file");
  EXPECT_REFUSED(io::open_safetensors(folder.path), "it is a folder");
  const auto pipe = folder.path / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_REFUSED(io::open_safetensors(pipe), "no regular file");
}

TEST(Safetensors, AFileCutWhileOpenIsNoticed) {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.safetensors";
  write_safetensors(path, {{"a", counted()}});
  const auto file = io::open_safetensors(path);
  std::filesystem::resize_file(path, 20);
  EXPECT_REFUSED(io::copy_of(*file.file, file.tensors.at("a"), "a"), "was cut from");
}

TEST(Safetensors, AFileCutAnywhereIsRefused) {
  expect_cuts_refused(io_data("mixed.safetensors"), 1,
                      [](const auto& path) { read_tensors(path); });
  const TemporaryFolder folder;
  const auto large = folder.path / "large.safetensors";
  write_safetensors(large, {{"a", randn({300, 100})}, {"b", randn({7})}});
  expect_cuts_refused(large, std::filesystem::file_size(large) / 100,
                      [](const auto& path) { read_tensors(path); });
}

TEST(Safetensors, DamagedBytesNeverCrash) {
  expect_damage_survived(io_data("mixed.safetensors"),
                         [](const auto& path) { read_tensors(path); });
}

TEST(Safetensors, FilesOfThePythonLibraryAreRead) {
  const auto tensors = read_tensors(io_data("mixed.safetensors"));
  EXPECT_TENSOR_EQ(tensors.at("b"), counted(at::kBFloat16));
  EXPECT_TENSOR_EQ(tensors.at("h"), counted(at::kHalf));
  EXPECT_TENSOR_EQ(tensors.at("d"), counted(at::kDouble));
  EXPECT_TENSOR_EQ(tensors.at("i"), counted(at::kChar));
  EXPECT_TENSOR_EQ(tensors.at("t"), counted() > 3);
  EXPECT_TENSOR_EQ(tensors.at("f8"), (counted() / 4).to(at::kFloat8_e5m2));
  EXPECT_EQ(tensors.at("e").sizes(), (std::vector<int64_t>{0}));
}

}  // namespace
}  // namespace intarsia::test
