// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_file/npy.hpp"

#include "tensor_file/npy_dictionary.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace flashpad {

static_assert(std::endian::native == std::endian::little, "elements of .npy files are read as they are");

namespace {

[[noreturn]] void fail(std::filesystem::path const& file, std::string const& message) {
  throw Error(fmt::format("{}: {}", file.string(), message));
}

/// The file, open, and its size.
std::ifstream open(std::filesystem::path const& file, std::uint64_t& size) {
  std::error_code error;
  std::filesystem::file_status const status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(file, "no such file; allowed: a .npy file");
  if (!std::filesystem::is_regular_file(status)) fail(file, "is not a regular file; allowed: a .npy file");
  size = std::filesystem::file_size(file, error);
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream.is_open()) fail(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  return stream;
}

/// The dictionary's text. Format 1 has two bytes for its length, 2 and 3 have four.
std::string read_dictionary(std::ifstream& stream, std::filesystem::path const& file,
                            std::uint64_t& data_offset) {
  constexpr std::string_view magic = "\x93NUMPY";
  // NumPy's own limit for a header that it reads without being told to trust it.
  constexpr std::uint32_t max_length = 10000;
  std::array<char, 8> start{};
  stream.read(start.data(), start.size());
  if (!stream || std::string_view(start.data(), magic.size()) != magic) {
    fail(file, "does not start as a .npy file; allowed: NumPy's .npy format");
  }
  auto const major = static_cast<unsigned char>(start[6]);
  auto const minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    fail(file, fmt::format("is of .npy format {}.{}; allowed: 1.0, 2.0 and 3.0", major, minor));
  }
  std::uint32_t length = 0;
  std::size_t const length_bytes = major == 1 ? 2 : 4;
  stream.read(reinterpret_cast<char*>(&length), static_cast<std::streamsize>(length_bytes));
  if (!stream) fail(file, "ends inside its header");
  if (length > max_length)
    fail(file, fmt::format("has a header of {} bytes; allowed: at most {}", length, max_length));
  std::string text(length, '\0');
  stream.read(text.data(), length);
  if (!stream) fail(file, "ends inside its header");
  data_offset = start.size() + length_bytes + length;
  return text;
}

DType element_type(std::string const& descr, std::filesystem::path const& file) {
  if (descr == "<f8") return DType::fp64;
  if (descr == "<f4") return DType::fp32;
  if (descr == "<f2") return DType::fp16;
  constexpr std::string_view allowed = "little-endian float64 (<f8), float32 (<f4) or float16 (<f2)";
  if (descr.starts_with('>'))
    fail(file, fmt::format("holds big-endian elements, '{}'; allowed: {}", descr, allowed));
  fail(file, fmt::format("holds elements of type '{}'; allowed: {}", descr, allowed));
}

void check_size(NpyHeader& header, std::uint64_t file_size, std::filesystem::path const& file) {
  std::uint64_t bytes = static_cast<std::uint64_t>(size_of(header.dtype));
  bool too_large = false;
  for (std::int64_t const extent : header.shape) {
    if (extent == 0) {
      header.data_bytes = 0;
      bytes = 0;
      too_large = false;
      break;
    }
    too_large = too_large || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
  }
  std::uint64_t const present = file_size - header.data_offset;
  if (too_large) {
    fail(file, fmt::format("says shape {}, more than 2^64 bytes, and holds {} bytes of elements",
                           shape_text(header.shape), present));
  }
  if (bytes != present) {
    fail(file, fmt::format("is {}: shape {} of {} takes {} bytes, and {} follow the header",
                           present < bytes ? "truncated" : "too long", shape_text(header.shape),
                           name(header.dtype), bytes, present));
  }
  header.data_bytes = bytes;
}

NpyHeader read_header(std::ifstream& stream, std::uint64_t file_size, std::filesystem::path const& file,
                      int rank) {
  NpyHeader header;
  std::string const text = read_dictionary(stream, file, header.data_offset);
  npy::Dictionary dictionary;
  try {
    dictionary = npy::parse_dictionary(text);
  } catch (Error const& error) {
    fail(file, error.what());
  }
  header.dtype = element_type(dictionary.descr, file);
  if (dictionary.fortran_order) fail(file, "is in Fortran order; allowed: C order (numpy.ascontiguousarray)");
  header.shape = dictionary.shape;
  if (header.shape.size() != static_cast<std::size_t>(rank)) {
    fail(file, fmt::format("has {} axes, shape {}; allowed: {} axes", header.shape.size(),
                           shape_text(header.shape), rank));
  }
  check_size(header, file_size, file);
  return header;
}

}  // namespace

std::string shape_text(std::vector<std::int64_t> const& shape) {
  // Python writes a tuple of one with a comma.
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

NpyHeader read_npy_header(std::filesystem::path const& file, int rank) {
  std::uint64_t size = 0;
  std::ifstream stream = open(file, size);
  return read_header(stream, size, file, rank);
}

NpyArray read_npy(std::filesystem::path const& file, int rank) {
  std::uint64_t size = 0;
  std::ifstream stream = open(file, size);
  NpyHeader const header = read_header(stream, size, file, rank);
  NpyArray array{header.shape, header.dtype, std::vector<std::byte>(header.data_bytes)};
  stream.read(reinterpret_cast<char*>(array.data.data()), static_cast<std::streamsize>(array.data.size()));
  if (!stream) fail(file, "could not be read to its end");
  return array;
}

void for_each_npy_piece(
    std::filesystem::path const& file, int rank,
    std::function<void(NpyHeader const&, std::int64_t, std::span<std::byte const>)> const& piece) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 23;
  std::uint64_t size = 0;
  std::ifstream stream = open(file, size);
  NpyHeader const header = read_header(stream, size, file, rank);
  std::vector<std::byte> data;
  for (std::uint64_t done = 0; done < header.data_bytes; done += data.size()) {
    data.resize(std::min(most_bytes, header.data_bytes - done));
    stream.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
    if (!stream) fail(file, "could not be read to its end");
    piece(header, static_cast<std::int64_t>(done) / size_of(header.dtype), data);
  }
}

}  // namespace flashpad
