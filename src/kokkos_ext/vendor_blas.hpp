// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>
#include <flashpad/types.hpp>

#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/streams.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

#if defined(FLASHPAD_HAS_CUBLAS) && defined(KOKKOS_ENABLE_CUDA)
#include <cublas_v2.h>
#elif defined(FLASHPAD_HAS_HIPBLAS) && defined(KOKKOS_ENABLE_HIP)
#include <hipblas/hipblas.h>
#endif
#include <dlfcn.h>

// The machine's own matrix product: cuBLAS, hipBLAS, and on the host the BLAS that Kokkos Kernels brings.

namespace flashpad::kokkos_ext {

/// Rows of one matrix a batch, `pitch` elements apart; matrices of the batch `step` elements apart (0: the
/// same).
struct BatchedRows {
  void* data = nullptr;
  std::int64_t pitch = 0;
  std::int64_t step = 0;
};

/// C_i = alpha A_i B_i for i in [0, count), C of rows x columns, A of rows x inner, B of inner x columns;
/// with `b_transposed`, B is stored as columns x inner.
struct BatchedProduct {
  std::int64_t rows = 0, columns = 0, inner = 0, count = 0;
  bool b_transposed = false;
  double alpha = 1;
  BatchedRows a, b, c;
};

/// A product of all matrices of one element type; 16-bit types are multiplied by tensor cores into float32,
/// and the result is rounded once. All sizes and pitches fit int.
template <class Exec>
class VendorBlas;

#if defined(FLASHPAD_HAS_CUBLAS) && defined(KOKKOS_ENABLE_CUDA)

template <>
class VendorBlas<Kokkos::Cuda> {
 public:
  static constexpr char const* name = "cublas";

  static std::string missing(DType) { return {}; }

  /// `memory` is the library's scratch memory on the device: it would allocate its own.
  VendorBlas(Kokkos::Cuda const& exec, void* memory, std::size_t bytes) : m_memory(memory), m_bytes(bytes) {
    cudaSetDevice(exec.cuda_device());
    check(cublasCreate(&m_handle), "cublasCreate");
    check(cublasSetMathMode(m_handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION), "cublasSetMathMode");
  }
  VendorBlas(VendorBlas const&) = delete;
  VendorBlas& operator=(VendorBlas const&) = delete;
  ~VendorBlas() { cublasDestroy(m_handle); }

  void multiply(Kokkos::Cuda const& exec, DType dtype, BatchedProduct const& p) const {
    check(cublasSetStream(m_handle, exec.cuda_stream()), "cublasSetStream");
    check(cublasSetWorkspace(m_handle, m_memory, m_bytes), "cublasSetWorkspace");  // the stream reset it
    float const alpha = static_cast<float>(p.alpha);
    float const zero = 0;
    double const wide_zero = 0;
    bool const wide = dtype == DType::fp64;
    void const* const a = wide ? static_cast<void const*>(&p.alpha) : &alpha;
    void const* const b = wide ? static_cast<void const*>(&wide_zero) : &zero;
    cudaDataType_t const type = type_of(dtype);
    // It takes columns where we have rows: C^T = B^T A^T.
    check(cublasGemmStridedBatchedEx(
              m_handle, p.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(p.columns),
              static_cast<int>(p.rows), static_cast<int>(p.inner), a, p.b.data, type,
              static_cast<int>(p.b.pitch), p.b.step, p.a.data, type, static_cast<int>(p.a.pitch), p.a.step, b,
              p.c.data, type, static_cast<int>(p.c.pitch), p.c.step, static_cast<int>(p.count),
              wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
  }

 private:
  static cudaDataType_t type_of(DType dtype) {
    switch (dtype) {
      case DType::fp64: return CUDA_R_64F;
      case DType::fp32: return CUDA_R_32F;
      case DType::fp16: return CUDA_R_16F;
      case DType::bf16: return CUDA_R_16BF;
    }
    return CUDA_R_32F;
  }

  static void check(cublasStatus_t status, char const* function) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw Error(std::string("naive-vendor: ") + function + ": " + cublasGetStatusString(status));
  }

  cublasHandle_t m_handle = nullptr;
  void* m_memory;
  std::size_t m_bytes;
};

#elif defined(FLASHPAD_HAS_HIPBLAS) && defined(KOKKOS_ENABLE_HIP)

template <>
class VendorBlas<HIP> {
 public:
  static constexpr char const* name = "hipblas";

  static std::string missing(DType) { return {}; }

  VendorBlas(HIP const&, void*, std::size_t) { check(hipblasCreate(&m_handle), "hipblasCreate"); }
  VendorBlas(VendorBlas const&) = delete;
  VendorBlas& operator=(VendorBlas const&) = delete;
  ~VendorBlas() { hipblasDestroy(m_handle); }

  void multiply(HIP const& exec, DType dtype, BatchedProduct const& p) const {
    check(hipblasSetStream(m_handle, stream_of(exec)), "hipblasSetStream");
    float const alpha = static_cast<float>(p.alpha);
    float const zero = 0;
    double const wide_zero = 0;
    bool const wide = dtype == DType::fp64;
    void const* const a = wide ? static_cast<void const*>(&p.alpha) : &alpha;
    void const* const b = wide ? static_cast<void const*>(&wide_zero) : &zero;
    hipblasDatatype_t const type = type_of(dtype);
    check(hipblasGemmStridedBatchedEx(
              m_handle, p.b_transposed ? HIPBLAS_OP_T : HIPBLAS_OP_N, HIPBLAS_OP_N,
              static_cast<int>(p.columns), static_cast<int>(p.rows), static_cast<int>(p.inner), a, p.b.data,
              type, static_cast<int>(p.b.pitch), p.b.step, p.a.data, type, static_cast<int>(p.a.pitch),
              p.a.step, b, p.c.data, type, static_cast<int>(p.c.pitch), p.c.step, static_cast<int>(p.count),
              wide ? HIPBLAS_R_64F : HIPBLAS_R_32F, HIPBLAS_GEMM_DEFAULT),
          "hipblasGemmStridedBatchedEx");
  }

 private:
  static hipblasDatatype_t type_of(DType dtype) {
    switch (dtype) {
      case DType::fp64: return HIPBLAS_R_64F;
      case DType::fp32: return HIPBLAS_R_32F;
      case DType::fp16: return HIPBLAS_R_16F;
      case DType::bf16: return HIPBLAS_R_16B;
    }
    return HIPBLAS_R_32F;
  }

  static void check(hipblasStatus_t status, char const* function) {
    if (status != HIPBLAS_STATUS_SUCCESS)
      throw Error(std::string("naive-vendor: ") + function + " failed with status " + std::to_string(status));
  }

  hipblasHandle_t m_handle = nullptr;
};

#endif

/// The host: one product after another, by the Fortran interface that every BLAS has.
template <class Exec>
  requires is_host<Exec>
class VendorBlas<Exec> {
 public:
  static constexpr char const* name = "blas";

  static std::string missing(DType dtype) {
    if (size_of(dtype) == 2)
      return std::string("dtype: ") + std::string(flashpad::name(dtype)) +
             " is not for naive-vendor on the host, whose BLAS multiplies fp32 and fp64; allowed: those";
    if (function<float>("sgemm_") == nullptr || function<double>("dgemm_") == nullptr)
      return "kernel: naive-vendor needs a BLAS, and this program has none";
    return {};
  }

  VendorBlas(Exec const&, void*, std::size_t) {}

  void multiply(Exec const& exec, DType dtype, BatchedProduct const& p) const {
    exec.fence();  // the BLAS has threads of its own
    dtype == DType::fp64 ? multiply_as<double>("dgemm_", p) : multiply_as<float>("sgemm_", p);
  }

 private:
  template <class T>
  using Gemm = void (*)(char const*, char const*, int const*, int const*, int const*, T const*, T const*,
                        int const*, T const*, int const*, T const*, T*, int const*);

  // Kokkos Kernels decides which BLAS is linked, and its alternatives swap at load time: look, do not link.
  template <class T>
  static Gemm<T> function(char const* symbol) {
    return reinterpret_cast<Gemm<T>>(dlsym(RTLD_DEFAULT, symbol));
  }

  template <class T>
  static void multiply_as(char const* symbol, BatchedProduct const& p) {
    static Gemm<T> const gemm = function<T>(symbol);
    int const m = static_cast<int>(p.columns), n = static_cast<int>(p.rows), k = static_cast<int>(p.inner);
    int const lda = static_cast<int>(p.b.pitch), ldb = static_cast<int>(p.a.pitch);
    int const ldc = static_cast<int>(p.c.pitch);
    T const alpha = static_cast<T>(p.alpha), beta = 0;
    for (std::int64_t i = 0; i < p.count; ++i) {
      gemm(p.b_transposed ? "T" : "N", "N", &m, &n, &k, &alpha,
           static_cast<T const*>(p.b.data) + i * p.b.step, &lda,
           static_cast<T const*>(p.a.data) + i * p.a.step, &ldb, &beta,
           static_cast<T*>(p.c.data) + i * p.c.step, &ldc);
    }
  }
};

/// A backend without one.
template <class Exec>
class VendorBlas {
 public:
  static constexpr char const* name = "";

  static std::string missing(DType) {
    return std::string("kernel: naive-vendor is not available on ") + Exec::name() +
           ": the library was built without cuBLAS or hipBLAS";
  }
  VendorBlas(Exec const&, void*, std::size_t) {}
  void multiply(Exec const&, DType, BatchedProduct const&) const {}
};

}  // namespace flashpad::kokkos_ext
