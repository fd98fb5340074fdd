// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "attention/arguments.hpp"
#include "attention/runner.hpp"
#include "kernels/engines/host_engines.hpp"
#include "kernels/naive/blas_lengths.hpp"
#include "kernels/naive/naive_softmax.hpp"
#include "kernels/naive/unseen.hpp"
#include "kokkos_ext/blas_threads.hpp"
#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/gemm.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <limits>

namespace flashpad::detail {

/// Textbook attention: S = scale Q K^T by Kokkos Kernels, row softmax, O = P V by Kokkos Kernels. The scores
/// of as many heads as the workspace holds go through memory at a time; the products cover the query rows
/// that see a key, and the keys that a row sees, and no others.
///
/// 16-bit inputs are widened to float first and O narrowed at the end: Kokkos Kernels would accumulate a
/// 16-bit result in 16 bits. (For the same reason a P kept in 16 bits is widened again for its product.)
template <class Exec, class Storage, class T>
class NaiveRunner final : public Runner<Exec> {
 public:
  static constexpr bool converts = sizeof(Storage) == 2;

  explicit NaiveRunner(Request<Exec> const& request)
      : m_shape(request.shape),
        m_variant(BandVariant::make(m_shape.seq_q, m_shape.seq_k, request.options.mask)),
        m_scale(static_cast<T>(request.scale)),
        m_narrow_p(converts && request.options.probabilities_in_input_type) {
    require_blas_lengths(m_shape, "naive");
    auto const seen = SeenRanges::make(m_variant, m_shape.seq_q);
    m_rows = seen.rows;
    m_keys = seen.keys;
    choose_chunk(request);
    m_workspace = kokkos_ext::allocate(request.exec, "flashpad::naive::workspace",
                                       static_cast<std::size_t>(m_chunk * head_bytes()));
    if constexpr (kokkos_ext::is_host<Exec>) m_table = engines::host_table<T>("portable", request.dtype);
    this->choice.kernel = Kernel::naive;
    this->choice.workspace_bytes = static_cast<double>(m_workspace.extent(0));
  }

  void run(Exec const& exec, Arguments const& arguments) override {
    clear_unseen<Storage, T>(exec, arguments, m_shape, m_rows);
    if (m_rows.size() == 0) return;
    kokkos_ext::BlasThreads const threads(kokkos_ext::is_host<Exec> ? kokkos_ext::concurrency(exec)
                                                                    : kokkos_ext::blas_threads().value_or(1));
    std::int64_t const all = m_shape.batch * m_shape.heads;
    for (std::int64_t first = 0; first < all; first += m_chunk) {
      run_chunk(exec, arguments, chunk_of(first, std::min(m_chunk, all - first), 1));
    }
  }

 private:
  /// A head's parts of the workspace, by index in the chunk.
  struct Buffers {
    T *scores, *q, *k, *v, *o;
    Storage* p;
  };

  [[nodiscard]] std::int64_t score_count() const { return m_rows.size() * m_keys.size(); }

  [[nodiscard]] std::int64_t head_bytes() const {
    std::int64_t elements = score_count();
    if (converts) {
      elements += m_rows.size() * (m_shape.head_dim + m_shape.value_dim) +
                  m_keys.size() * (m_shape.head_dim + m_shape.value_dim);
    }
    std::int64_t const p_bytes = m_narrow_p ? score_count() * size_of_storage : 0;
    return elements * static_cast<std::int64_t>(sizeof(T)) + (p_bytes + 63) / 64 * 64;
  }

  /// head_bytes without its overflow.
  [[nodiscard]] double head_bytes_estimate() const {
    double const scores = static_cast<double>(m_rows.size()) * static_cast<double>(m_keys.size());
    return scores > 0x1p56 ? scores * sizeof(T) : static_cast<double>(head_bytes());
  }

  void choose_chunk(Request<Exec> const& request) {
    constexpr double default_limit = 256.0 * 1024 * 1024;
    double const asked = request.options.workspace_limit;
    double const one = head_bytes_estimate();
    if (one > 0x1p60) {
      throw OutOfMemory(text("seq_q, seq_k: naive needs ", one, " bytes for the scores of one head"), one);
    }
    if (asked > 0 && one > asked) {
      throw OutOfMemory(
          text("workspace_limit: naive needs ", one, " bytes for the scores of one head; allowed: ", asked),
          one);
    }
    double const limit = asked > 0 ? asked : default_limit;
    double const all = static_cast<double>(m_shape.batch * m_shape.heads);
    // The softmax has a team a row, and a league is counted in int.
    double const rows = std::max<double>(1, static_cast<double>(m_rows.size()));
    double const heads = std::min({all, one > 0 ? limit / one : all, std::numeric_limits<int>::max() / rows});
    m_chunk = std::max<std::int64_t>(1, static_cast<std::int64_t>(heads));
  }

  [[nodiscard]] Buffers buffers(std::int64_t index) const {
    // Parts lie one after the other for the whole chunk: the softmax takes all heads' scores in one launch.
    auto* next = reinterpret_cast<T*>(m_workspace.data());
    auto const take = [&](std::int64_t elements) {
      T* const part = next + index * elements;
      next += m_chunk * elements;
      return part;
    };
    Buffers b{};
    b.scores = take(score_count());
    if (converts) {
      b.q = take(m_rows.size() * m_shape.head_dim);
      b.o = take(m_rows.size() * m_shape.value_dim);
      b.k = take(m_keys.size() * m_shape.head_dim);
      b.v = take(m_keys.size() * m_shape.value_dim);
    }
    b.p = m_narrow_p ? reinterpret_cast<Storage*>(next) + index * score_count() : nullptr;
    return b;
  }

  [[nodiscard]] HeadChunk chunk_of(std::int64_t first, std::int64_t count, std::int64_t group) const {
    return {first, count, m_shape.heads, group};
  }

  void run_chunk(Exec const& exec, Arguments const& arguments, HeadChunk const& chunk) const {
    Operand const q = operand(arguments.q);
    Operand const k = operand(arguments.k);
    Operand const v = operand(arguments.v);
    Operand const o = operand(arguments.o);
    std::int64_t const group = m_shape.heads / m_shape.kv_heads;
    if constexpr (converts) widen_inputs(exec, q, k, v, chunk);
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      Buffers const part = buffers(i);
      std::int64_t const b = chunk.batch(i);
      std::int64_t const h = chunk.head(i);
      multiply_scores(exec, rows_of(part.q, q, b, h, m_rows, m_shape.head_dim),
                      rows_of(part.k, k, b, h / group, m_keys, m_shape.head_dim), part.scores);
    }
    softmax(exec, arguments, chunk);
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      Buffers const part = buffers(i);
      std::int64_t const b = chunk.batch(i);
      std::int64_t const h = chunk.head(i);
      multiply_values(exec, part.scores, rows_of(part.v, v, b, h / group, m_keys, m_shape.value_dim),
                      rows_of(part.o, o, b, h, m_rows, m_shape.value_dim));
    }
    if constexpr (converts) {
      for_rows(exec, "flashpad::naive::narrow_o", chunk.count, m_rows.size(),
               NarrowRows<Storage, T>{buffers(0).o, o, chunk, m_rows, m_shape.value_dim});
    }
  }

  void softmax(Exec const& exec, Arguments const& arguments, HeadChunk const& chunk) const {
    Buffers const part = buffers(0);
    NaiveSoftmax<Exec, Storage, T> functor;
    functor.scores = part.scores;
    functor.narrow = part.p;
    functor.chunk = chunk;
    functor.variant = m_variant;
    functor.rows = m_rows;
    functor.keys = m_keys;
    if (arguments.lse.present) functor.lse = operand(arguments.lse);
    functor.table = m_table;
    using Policy = typename NaiveSoftmax<Exec, Storage, T>::Policy;
    auto const league = static_cast<int>(chunk.count * m_rows.size());
    Kokkos::parallel_for(
        "flashpad::naive::softmax",
        kokkos_ext::is_host<Exec> ? Policy(exec, league, 1, 1) : Policy(exec, league, Kokkos::AUTO), functor);
    if constexpr (converts) {
      if (m_narrow_p) {
        // P is a tensor of one head: its rows lie one after the other over the whole chunk.
        std::int64_t const row_bytes = m_keys.size() * size_of_storage;
        Operand const p{reinterpret_cast<char*>(part.p), 0, m_rows.size() * row_bytes, row_bytes};
        for_rows(exec, "flashpad::naive::widen_p", chunk.count, m_rows.size(),
                 WidenRows<Storage, T>{
                     p, part.scores, {0, chunk.count, chunk.count, 1}, {0, m_rows.size()}, m_keys.size()});
      }
    }
  }

  void widen_inputs(Exec const& exec, Operand const& q, Operand const& k, Operand const& v,
                    HeadChunk const& chunk) const {
    Buffers const part = buffers(0);
    HeadChunk const kv = chunk_of(chunk.first, chunk.count, m_shape.heads / m_shape.kv_heads);
    for_rows(exec, "flashpad::naive::widen_q", chunk.count, m_rows.size(),
             WidenRows<Storage, T>{q, part.q, chunk, m_rows, m_shape.head_dim});
    for_rows(exec, "flashpad::naive::widen_k", chunk.count, m_keys.size(),
             WidenRows<Storage, T>{k, part.k, kv, m_keys, m_shape.head_dim});
    for_rows(exec, "flashpad::naive::widen_v", chunk.count, m_keys.size(),
             WidenRows<Storage, T>{v, part.v, kv, m_keys, m_shape.value_dim});
  }

  /// Rows of one head as a BLAS sees them.
  struct Rows {
    T* data;
    std::int64_t count, dim, pitch;

    /// Rows that one product takes. A BLAS wants rows that do not overlap (pitch >= dim) and counts in int;
    /// others, as of a tensor with stride 0, go one by one.
    [[nodiscard]] std::int64_t step() const {
      return pitch >= dim && pitch <= std::numeric_limits<int>::max() ? count : 1;
    }

    [[nodiscard]] auto matrix(std::int64_t from, std::int64_t n) const {
      return kokkos_ext::matrix<Exec>(data + from * pitch, n, dim, n == 1 ? dim : pitch);
    }
  };

  /// The widened copy, or the tensor itself.
  static Rows rows_of(T* widened, Operand const& tensor, std::int64_t b, std::int64_t h, KeyRange rows,
                      std::int64_t dim) {
    if constexpr (converts) {
      return {widened, rows.size(), dim, dim};
    } else {
      return {&tensor.element<T>(b, h, rows.begin), rows.size(), dim,
              rows.size() == 1 ? dim : tensor.stride_n / static_cast<std::int64_t>(sizeof(T))};
    }
  }

  void multiply_scores(Exec const& exec, Rows const& q, Rows const& k, T* scores) const {
    for (std::int64_t i = 0; i < q.count; i += q.step()) {
      for (std::int64_t j = 0; j < k.count; j += k.step()) {
        kokkos_ext::gemm(exec, "N", "T", m_scale, q.matrix(i, q.step()), k.matrix(j, k.step()), T{0},
                         kokkos_ext::matrix<Exec>(scores + i * k.count + j, q.step(), k.step(), k.count));
      }
    }
  }

  void multiply_values(Exec const& exec, T* p, Rows const& v, Rows const& o) const {
    for (std::int64_t i = 0; i < o.count; i += o.step()) {
      for (std::int64_t j = 0; j < v.count; j += v.step()) {
        kokkos_ext::gemm(exec, "N", "N", T{1},
                         kokkos_ext::matrix<Exec>(p + i * v.count + j, o.step(), v.step(), v.count),
                         v.matrix(j, v.step()), j == 0 ? T{0} : T{1}, o.matrix(i, o.step()));
      }
    }
  }

  static constexpr std::int64_t size_of_storage = sizeof(Storage);

  Shape m_shape;
  BandVariant m_variant;
  T m_scale;
  bool m_narrow_p;
  KeyRange m_rows;
  KeyRange m_keys;
  std::int64_t m_chunk = 1;
  kokkos_ext::Bytes<Exec> m_workspace;
  engines::HostTable<T> m_table;
};

template <class Exec>
std::unique_ptr<Runner<Exec>> make_naive(Request<Exec> const& request) {
  switch (request.dtype) {
    case DType::fp64: return std::make_unique<NaiveRunner<Exec, double, double>>(request);
    case DType::fp32: return std::make_unique<NaiveRunner<Exec, float, float>>(request);
    case DType::fp16: return std::make_unique<NaiveRunner<Exec, half, float>>(request);
    case DType::bf16: return std::make_unique<NaiveRunner<Exec, bfloat16, float>>(request);
  }
  throw Error("dtype: not a known element type");
}

}  // namespace flashpad::detail
