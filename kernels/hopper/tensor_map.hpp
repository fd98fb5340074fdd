// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace flashpad::hopper {

/// A tensor (b, h, n, c) of 16-bit elements for the copy engine; strides of b, h and n in bytes.
struct TensorSpec {
  void* data = nullptr;
  bool bfloat16 = false;
  std::int64_t columns = 0, rows = 0, heads = 0, batch = 0;
  std::int64_t stride_n = 0, stride_h = 0, stride_b = 0;
};

/// Why the copy engine cannot address a tensor; empty where it can: the address and all strides must be
/// multiples of 16 bytes, and strides below 2^40.
inline std::string tensor_map_refusal(TensorSpec const& t) {
  if (t.columns == 0 || t.rows == 0 || t.heads == 0 || t.batch == 0) return {};
  if (reinterpret_cast<std::uintptr_t>(t.data) % 16 != 0) return "its address is not a multiple of 16 bytes";
  for (std::int64_t const stride :
       {t.rows > 1 ? t.stride_n : 16, t.heads > 1 ? t.stride_h : 16, t.batch > 1 ? t.stride_b : 16}) {
    if (stride % 16 != 0) return "its stride of " + std::to_string(stride) + " bytes is not a multiple of 16";
    if (stride <= 0 || stride >= std::int64_t{1} << 40)
      return "its stride of " + std::to_string(stride) + " bytes is out of range";
  }
  return {};
}

namespace detail {

/// Tensor map of 16-bit elements in the 128-byte swizzle, of the first `rank` sizes, strides and box edges.
inline CUtensorMap encode_map(void* data, bool bfloat16, cuuint32_t rank, cuuint64_t const* sizes,
                              cuuint64_t const* strides, cuuint32_t const* box,
                              CUtensorMapL2promotion promotion) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static Encode const encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    // By entry point, so that nothing links the driver's library.
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    return reinterpret_cast<Encode>(function);
  }();
  if (encode == nullptr)
    throw std::runtime_error("hopper: the CUDA driver has no cuTensorMapEncodeTiled; needs 12.0 or newer");
  cuuint32_t const every[5] = {1, 1, 1, 1, 1};
  CUtensorMap map;
  CUresult const result =
      encode(&map, bfloat16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank, data,
             sizes, strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, promotion,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::runtime_error("hopper: cuTensorMapEncodeTiled failed with " + std::to_string(result));
  return map;
}

inline cuuint64_t map_size(std::int64_t n) { return static_cast<cuuint64_t>(n > 0 ? n : 1); }
/// A stride that is never taken may be anything: it must still be valid.
inline cuuint64_t map_stride(std::int64_t n, std::int64_t bytes) {
  return static_cast<cuuint64_t>(n > 1 ? bytes : 16);
}

}  // namespace detail

/// Tensor map of boxes of 64 columns and `box_rows` rows of one head. Outside the tensor it reads zeros and
/// writes nothing.
inline CUtensorMap make_tensor_map(TensorSpec const& t, int box_rows, CUtensorMapL2promotion promotion) {
  using detail::map_size, detail::map_stride;
  cuuint64_t const sizes[4] = {map_size(t.columns), map_size(t.rows), map_size(t.heads), map_size(t.batch)};
  cuuint64_t const strides[3] = {map_stride(t.rows, t.stride_n), map_stride(t.heads, t.stride_h),
                                 map_stride(t.batch, t.stride_b)};
  cuuint32_t const box[4] = {64, static_cast<cuuint32_t>(box_rows), 1, 1};
  return detail::encode_map(t.data, t.bfloat16, 4, sizes, strides, box, promotion);
}

/// Tensor map of boxes of 64 columns and `box_rows` rows of all `group` heads of one key head, a row's heads
/// one after another: coordinates are (column, head of the group, row, key head, batch).
inline CUtensorMap make_packed_map(TensorSpec const& t, int group, int box_rows,
                                   CUtensorMapL2promotion promotion) {
  using detail::map_size, detail::map_stride;
  std::int64_t const groups = t.heads / group;
  cuuint64_t const sizes[5] = {map_size(t.columns), map_size(group), map_size(t.rows), map_size(groups),
                               map_size(t.batch)};
  cuuint64_t const strides[4] = {map_stride(group, t.stride_h), map_stride(t.rows, t.stride_n),
                                 map_stride(groups, t.stride_h * group), map_stride(t.batch, t.stride_b)};
  cuuint32_t const box[5] = {64, static_cast<cuuint32_t>(group), static_cast<cuuint32_t>(box_rows), 1, 1};
  return detail::encode_map(t.data, t.bfloat16, 5, sizes, strides, box, promotion);
}

}  // namespace flashpad::hopper
