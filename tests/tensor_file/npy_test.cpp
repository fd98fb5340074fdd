// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_file/npy.hpp"
#include "test_paths.hpp"

#include <flashpad/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace flashpad::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    m_folder = fs::path(testing::TempDir()) /
               ("flashpad_npy_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(m_folder);
    fs::create_directories(m_folder);
    m_file = m_folder / "x.npy";
  }
  void TearDown() override { fs::remove_all(m_folder); }

  void write(std::string const& bytes) const { std::ofstream(m_file, std::ios::binary) << bytes; }

  /// A file of the format `major`.0 with this dictionary and as many zero bytes of elements.
  static std::string bytes_of(std::string const& dictionary, std::size_t data_bytes, char major = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += major;
    bytes += '\0';
    std::size_t const length = dictionary.size();
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i) bytes += static_cast<char>((length >> (8 * i)) & 0xff);
    return bytes + dictionary + std::string(data_bytes, '\0');
  }

  static std::string dictionary(std::string const& descr, std::string const& shape,
                                std::string const& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  }

  /// What reading says after the file's name; the header alone and the whole file have to agree.
  std::string error(int rank = 4) const {
    std::string messages[2] = {"accepted", "accepted"};
    try {
      read_npy_header(m_file, rank);
    } catch (Error const& e) {
      messages[0] = e.what();
    }
    try {
      read_npy(m_file, rank);
    } catch (Error const& e) {
      messages[1] = e.what();
    }
    EXPECT_EQ(messages[0], messages[1]);
    std::string const prefix = m_file.string() + ": ";
    if (messages[0].starts_with(prefix)) return messages[0].substr(prefix.size());
    return messages[0];
  }

  std::string error_of(std::string const& bytes, int rank = 4) const {
    write(bytes);
    return error(rank);
  }

  fs::path m_folder;
  fs::path m_file;
};

TEST_F(Npy, ReadsWhatItWrites) {
  std::vector<float> const values = {0.0f, -1.5f, 3.25f, 1e-30f, 5.0f, 6.0f};
  write_npy(m_file, {1, 2, 3, 1}, DType::fp32, std::as_bytes(std::span(values)));
  NpyHeader const header = read_npy_header(m_file);
  EXPECT_THAT(header.shape, ElementsAre(1, 2, 3, 1));
  EXPECT_EQ(header.dtype, DType::fp32);
  EXPECT_EQ(header.data_bytes, 24u);
  EXPECT_EQ(header.data_offset % 64, 0u);
  NpyArray const array = read_npy(m_file);
  EXPECT_THAT(array.shape, ElementsAre(1, 2, 3, 1));
  EXPECT_EQ(array.dtype, DType::fp32);
  ASSERT_EQ(array.data.size(), 24u);
  std::vector<float> read(6);
  std::memcpy(read.data(), array.data.data(), 24);
  EXPECT_EQ(read, values);
  EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 1) << "no temporary file is left";
}

TEST_F(Npy, WritesEveryTypeAndRank) {
  std::vector<std::byte> const bytes(48, std::byte{1});
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16}) {
    std::int64_t const count = 48 / size_of(dtype);
    for (std::vector<std::int64_t> const& shape :
         {std::vector<std::int64_t>{count}, {1, count}, {count, 1, 1}, {1, 1, 1, count}}) {
      write_npy(m_file, shape, dtype, bytes);
      NpyArray const array = read_npy(m_file, static_cast<int>(shape.size()));
      EXPECT_EQ(array.shape, shape);
      EXPECT_EQ(array.dtype, dtype);
      EXPECT_EQ(array.data, bytes);
    }
  }
}

TEST_F(Npy, WritesNothingThatItCannotSay) {
  std::vector<std::byte> const bytes(8);
  std::string message;
  try {
    write_npy(m_file, {1, 1, 1, 4}, DType::bf16, bytes);
  } catch (Error const& e) {
    message = e.what();
  }
  EXPECT_EQ(message, m_file.string() + ": .npy has no bf16; allowed: fp64, fp32, fp16");
  try {
    write_npy(m_file, {1, 1, 1, 4}, DType::fp32, bytes);
  } catch (Error const& e) {
    message = e.what();
  }
  EXPECT_EQ(message, m_file.string() + ": shape (1, 1, 1, 4) of fp32 takes 16 bytes; found 8");
  EXPECT_THROW(write_npy(m_folder, {1, 1, 1, 2}, DType::fp32, bytes), Error);
  EXPECT_FALSE(fs::exists(m_file));
}

TEST_F(Npy, ReadsARealModelsTensors) {
  fs::path const folder = fs::path(FLASHPAD_SOURCE_DIR) / "inputs" / "data" / "minilm";
  NpyArray const q = read_npy(folder / "layer0_q.npy");
  EXPECT_THAT(q.shape, ElementsAre(1, 12, 500, 32));
  EXPECT_EQ(q.dtype, DType::fp16);
  EXPECT_EQ(q.data.size(), 384000u);
  std::uint16_t first = 0;
  std::memcpy(&first, q.data.data(), sizeof first);
  EXPECT_EQ(first, 0xba3cu) << "the elements start where the header ends";
  NpyHeader const lse = read_npy_header(folder / "layer0_lse_full.npy", 3);
  EXPECT_THAT(lse.shape, ElementsAre(1, 12, 500));
  EXPECT_EQ(lse.dtype, DType::fp32);
}

TEST_F(Npy, WritesWhatNumPyWrites) {
  fs::path const original = fs::path(FLASHPAD_SOURCE_DIR) / "inputs" / "data" / "minilm" / "layer0_q.npy";
  NpyArray const q = read_npy(original);
  write_npy(m_file, q.shape, q.dtype, q.data);
  auto const bytes = [](fs::path const& file) {
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_TRUE(bytes(m_file) == bytes(original));
}

TEST_F(Npy, ReadsAllFormats) {
  for (char const major : {char{1}, char{2}, char{3}}) {
    EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 2, 3, 4)"), 96, major)), "accepted") << int(major);
  }
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 2, 3, 4)"), 96, 4)),
            "is of .npy format 4.0; allowed: 1.0, 2.0 and 3.0");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 2, 3, 4)"), 96, 0)),
            "is of .npy format 0.0; allowed: 1.0, 2.0 and 3.0");
}

TEST_F(Npy, ReadsKeysInAnyOrderAndSpacing) {
  EXPECT_EQ(error_of(bytes_of("{\"shape\":(1,2,3,4),'fortran_order':False,\"descr\":'<f8'}", 192)),
            "accepted");
  EXPECT_EQ(error_of(bytes_of(
                " { 'descr' : '<f2' , 'fortran_order' : False , 'shape' : ( 1 , 2,3 ,4 , ) , } \n\n", 48)),
            "accepted");
}

TEST_F(Npy, ZeroLengthAxesAreLegal) {
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 0, 3, 4)"), 0)), "accepted");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(9223372036854775807, 9223372036854775807, 0, 4)"), 0)),
            "accepted");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 0, 3, 4)"), 4)),
            "is too long: shape (1, 0, 3, 4) of fp32 takes 0 bytes, and 4 follow the header");
}

TEST_F(Npy, SizesAreCheckedAgainstTheFile) {
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 2, 3, 4)"), 95)),
            "is truncated: shape (1, 2, 3, 4) of fp32 takes 96 bytes, and 95 follow the header");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 2, 3, 4)"), 97)),
            "is too long: shape (1, 2, 3, 4) of fp32 takes 96 bytes, and 97 follow the header");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 2, 3, 4)"), 0)),
            "is truncated: shape (1, 2, 3, 4) of fp32 takes 96 bytes, and 0 follow the header");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1000000, 1000000, 1000, 1)"), 96)),
            "is truncated: shape (1000000, 1000000, 1000, 1) of fp32 takes 4000000000000000 bytes, and 96 "
            "follow the "
            "header");
}

TEST_F(Npy, ProductsThatOverflowAreRefused) {
  // 2^62 * 4 * 1 * 1 elements of 4 bytes wrap around to 0 in 64 bits.
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(4611686018427387904, 4, 1, 1)"), 0)),
            "says shape (4611686018427387904, 4, 1, 1), more than 2^64 bytes, and holds 0 bytes of elements");
  EXPECT_EQ(
      error_of(bytes_of(dictionary("<f4", "(4294967296, 4294967296, 1, 6)"), 24)),
      "says shape (4294967296, 4294967296, 1, 6), more than 2^64 bytes, and holds 24 bytes of elements");
}

TEST_F(Npy, OtherElementsAndOrdersAreRefused) {
  std::string const allowed = "; allowed: little-endian float64 (<f8), float32 (<f4) or float16 (<f2)";
  EXPECT_EQ(error_of(bytes_of(dictionary(">f4", "(1, 2, 3, 4)"), 96)),
            "holds big-endian elements, '>f4'" + allowed);
  for (std::string const descr : {"<i4", "|u1", "<c8", "|O", "<f16", "=f4", "f4", "<f4 ", ""}) {
    EXPECT_EQ(error_of(bytes_of(dictionary(descr, "(1, 2, 3, 4)"), 96)),
              "holds elements of type '" + descr + "'" + allowed);
  }
  EXPECT_EQ(
      error_of(bytes_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2, 3, 4)}", 96)),
      "holds structured elements; allowed: float64, float32 or float16");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(1, 2, 3, 4)", "True"), 96)),
            "is in Fortran order; allowed: C order (numpy.ascontiguousarray)");
}

TEST_F(Npy, OtherRanksAreRefused) {
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(2, 3, 4)"), 96)),
            "has 3 axes, shape (2, 3, 4); allowed: 4 axes");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(2, 3, 4)"), 96), 3), "accepted");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "()"), 4)), "has 0 axes, shape (); allowed: 4 axes");
  EXPECT_EQ(error_of(bytes_of(dictionary("<f4", "(24,)"), 96)), "has 1 axes, shape (24,); allowed: 4 axes");
}

TEST_F(Npy, MalformedHeadersAreRefused) {
  std::string const malformed = "has a malformed header: ";
  std::string const allowed = "; allowed: a dictionary of descr, fortran_order and shape";
  auto const reason = [&](std::string const& dictionary) { return error_of(bytes_of(dictionary, 96)); };
  EXPECT_EQ(reason(dictionary("<f4", "(1, -2, 3, 4)")), malformed + "the negative size -2" + allowed);
  EXPECT_EQ(reason(dictionary("<f4", "(1, 9223372036854775808, 3, 4)")),
            malformed + "a size beyond 64 bits" + allowed);
  EXPECT_EQ(reason(dictionary("<f4", "(1, 2.0, 3, 4)")), malformed + "no ')' where one has to be" + allowed);
  EXPECT_EQ(reason(dictionary("<f4", "(24)")), malformed + "a shape that is no tuple" + allowed);
  EXPECT_EQ(reason(dictionary("<f4", "(1, 2, 3, x)")), malformed + "no number where one has to be" + allowed);
  EXPECT_EQ(reason(dictionary("<f4", "[1, 2, 3, 4]")), malformed + "no '(' where one has to be" + allowed);
  EXPECT_EQ(reason(dictionary("<f4", "(1, 2, 3, 4)", "0")),
            malformed + "no 'False' where one has to be" + allowed);
  EXPECT_EQ(reason("{'descr': '<f4', 'shape': (1, 2, 3, 4)}"), malformed + "a key is missing" + allowed);
  EXPECT_EQ(reason("{'descr': '<f4', 'descr': '<f8'}"), malformed + "the key 'descr' twice" + allowed);
  EXPECT_EQ(reason("{'order': 'C'}"), malformed + "the key 'order'" + allowed);
  EXPECT_EQ(reason(dictionary("<f4", "(1, 2, 3, 4)") + "x"),
            malformed + "text after the dictionary" + allowed);
  EXPECT_EQ(reason("{'descr': '<f4"), malformed + "a string without an end" + allowed);
  EXPECT_EQ(reason("{'descr': '<f\n4'}"), malformed + "a string with an unusual character" + allowed);
  EXPECT_EQ(reason("{'descr' '<f4'}"), malformed + "no ':' where one has to be" + allowed);
  EXPECT_EQ(reason(""), malformed + "no '{' where one has to be" + allowed);
  std::string axes = "(";
  for (int i = 0; i < 65; ++i) axes += "1, ";
  EXPECT_EQ(reason(dictionary("<f4", axes + ")")), malformed + "more than 64 axes" + allowed);
}

TEST_F(Npy, WhatIsNoNpyFileIsRefused) {
  EXPECT_EQ(error(), "no such file; allowed: a .npy file");
  std::string const no_magic = "does not start as a .npy file; allowed: NumPy's .npy format";
  EXPECT_EQ(error_of(""), no_magic);
  EXPECT_EQ(error_of("\x93NUMP"), no_magic);
  EXPECT_EQ(error_of("PK\x03\x04 an archive of arrays"), no_magic);
  EXPECT_EQ(error_of(std::string("\x93NUMPY\x01\x00v", 9)), "ends inside its header");
  EXPECT_EQ(error_of(std::string("\x93NUMPY\x01\x00\x76\x00{'descr'", 18)), "ends inside its header");
  EXPECT_EQ(error_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)),
            "has a header of 4294967295 bytes; allowed: at most 10000");
  fs::remove(m_file);
  fs::create_directory(m_file);
  EXPECT_EQ(error(), "is not a regular file; allowed: a .npy file");
}

}  // namespace
}  // namespace flashpad::test
