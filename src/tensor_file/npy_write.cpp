// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/files.hpp"
#include "tensor_file/npy.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <bit>

namespace flashpad {

static_assert(std::endian::native == std::endian::little, "elements of .npy files are written as they are");

namespace {

/// Magic, version 1.0, the header's length and the dictionary, padded so that the elements start at a
/// multiple of 64 bytes.
std::string header_text(std::vector<std::int64_t> const& shape, DType dtype) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t before_dictionary = 10;
  char const* const descr = dtype == DType::fp64 ? "<f8" : dtype == DType::fp32 ? "<f4" : "<f2";
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape_text(shape));
  std::size_t const used = before_dictionary + dictionary.size() + 1;
  dictionary.append((alignment - used % alignment) % alignment, ' ');
  dictionary += '\n';

  std::string text = "\x93NUMPY";
  text += '\x01';
  text += '\x00';
  text += static_cast<char>(dictionary.size() & 0xffU);
  text += static_cast<char>(dictionary.size() >> 8U);
  return text + dictionary;
}

}  // namespace

void write_npy(std::filesystem::path const& file, std::vector<std::int64_t> const& shape, DType dtype,
               std::span<std::byte const> data) {
  if (dtype == DType::bf16)
    throw Error(fmt::format("{}: .npy has no bf16; allowed: fp64, fp32, fp16", file.string()));
  std::uint64_t bytes = static_cast<std::uint64_t>(size_of(dtype));
  for (std::int64_t const extent : shape) bytes *= static_cast<std::uint64_t>(extent);
  if (bytes != data.size()) {
    throw Error(fmt::format("{}: shape {} of {} takes {} bytes; found {}", file.string(), shape_text(shape),
                            name(dtype), bytes, data.size()));
  }
  std::string text = header_text(shape, dtype);
  text.append(reinterpret_cast<char const*>(data.data()), data.size());
  report::write_file(file, text);
}

}  // namespace flashpad
