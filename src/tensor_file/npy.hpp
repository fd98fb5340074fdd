// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/types.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace flashpad {

/// What a NumPy .npy file says about itself, already checked against the file's size.
struct NpyHeader {
  std::vector<std::int64_t> shape;
  DType dtype = DType::fp32;      ///< fp64, fp32 or fp16
  std::uint64_t data_offset = 0;  ///< where the elements start in the file
  std::uint64_t data_bytes = 0;   ///< product of the shape times the element's size
};

/// A whole .npy file in memory, last axis fastest.
struct NpyArray {
  std::vector<std::int64_t> shape;
  DType dtype = DType::fp32;
  std::vector<std::byte> data;
};

/// Reads and checks the header of a .npy file of `rank` axes: format 1, 2 or 3, little-endian float64,
/// float32 or float16, C order, no byte missing or left over. Throws Error with one line that names the
/// file, what was found and what is allowed; allocates nothing that depends on the sizes in the file.
NpyHeader read_npy_header(std::filesystem::path const& file, int rank = 4);

/// Reads a whole .npy file under the rules of read_npy_header.
NpyArray read_npy(std::filesystem::path const& file, int rank = 4);

/// Hands the elements of a .npy file to `piece`, in their order and some MiB at a time, with the index of the
/// first. Refuses as read_npy_header does.
void for_each_npy_piece(std::filesystem::path const& file, int rank,
                        std::function<void(NpyHeader const& header, std::int64_t first,
                                           std::span<std::byte const> data)> const& piece);

/// Writes `data` as a .npy file of format 1. The file appears whole under its name or not at all. Throws
/// Error where it cannot be written, where `data` is not as long as `shape` says, and for bf16, which .npy
/// cannot express: convert it first.
void write_npy(std::filesystem::path const& file, std::vector<std::int64_t> const& shape, DType dtype,
               std::span<std::byte const> data);

/// "(1, 12, 500, 32)", as NumPy prints a shape.
std::string shape_text(std::vector<std::int64_t> const& shape);

}  // namespace flashpad
