// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "attention/arguments.hpp"
#include "attention/runner.hpp"
#include "kernels/engines/host_engines.hpp"
#include "kernels/naive/blas_lengths.hpp"
#include "kernels/naive/naive_softmax.hpp"
#include "kernels/naive/unseen.hpp"
#include "kernels/naive/vendor_softmax.hpp"
#include "kokkos_ext/blas_threads.hpp"
#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/labelled.hpp"
#include "kokkos_ext/vendor_blas.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <limits>

namespace flashpad::detail {

/// Textbook attention as well as it can be done unfused: S = scale Q K^T and O = P V by the vendor's batched
/// product, with tensor cores where the type has them, S and P kept in the inputs' type and P in the place of
/// S. As many heads as the workspace holds go at a time; the products cover the query rows that see a key,
/// and the keys that a row sees.
template <class Exec, class Storage, class T>
class VendorRunner final : public Runner<Exec> {
 public:
  explicit VendorRunner(Request<Exec> const& request)
      : m_shape(request.shape),
        m_dtype(request.dtype),
        m_variant(BandVariant::make(m_shape.seq_q, m_shape.seq_k, request.options.mask)),
        m_scale(request.scale) {
    constexpr std::int64_t vector = kokkos_ext::is_host<Exec> ? 1 : 16 / sizeof(Storage);
    require_blas_lengths(m_shape, "naive-vendor", vector);
    m_seen = SeenRanges::make(m_variant, m_shape.seq_q);
    m_pitch = (m_seen.keys.size() + vector - 1) / vector * vector;
    choose_chunk(request.options.workspace_limit);
    std::int64_t const scores = m_chunk * m_seen.rows.size() * m_pitch * size;
    m_workspace = kokkos_ext::allocate(request.exec, "flashpad::naive_vendor::workspace",
                                       static_cast<std::size_t>(scores + m_blas_bytes));
    // The softmax reads whole vectors, and so the padding that no product writes.
    if (m_pitch != m_seen.keys.size()) Kokkos::deep_copy(request.exec, m_workspace, 0);
    m_blas = std::make_unique<kokkos_ext::VendorBlas<Exec>>(request.exec, m_workspace.data() + scores,
                                                            static_cast<std::size_t>(m_blas_bytes));
    if constexpr (kokkos_ext::is_host<Exec>) m_table = engines::host_table<T>("portable", request.dtype);
    this->choice.kernel = Kernel::naive_vendor;
    this->choice.engine = kokkos_ext::VendorBlas<Exec>::name;
    this->choice.workspace_bytes = static_cast<double>(m_workspace.extent(0));
  }

  [[nodiscard]] std::string refusal(Arguments const& arguments) const override {
    for (auto const& [name, tensor] : {std::pair{"q", &arguments.q}, std::pair{"k", &arguments.k},
                                       std::pair{"v", &arguments.v}, std::pair{"o", &arguments.o}}) {
      std::int64_t const pitch = tensor->stride[2];
      if (tensor->extent[2] > 1 && (pitch < tensor->extent[3] || pitch > std::numeric_limits<int>::max())) {
        return text(name, ": its rows lie ", pitch, " elements apart; the BLAS of naive-vendor takes ",
                    tensor->extent[3], " to ", std::numeric_limits<int>::max());
      }
    }
    return {};
  }

  void run(Exec const& exec, Arguments const& arguments) override {
    clear_unseen<Storage, T>(exec, arguments, m_shape, m_seen.rows);
    if (m_seen.rows.size() == 0) return;
    kokkos_ext::BlasThreads const threads(kokkos_ext::is_host<Exec> ? kokkos_ext::concurrency(exec)
                                                                    : kokkos_ext::blas_threads().value_or(1));
    std::int64_t const all = m_shape.batch * m_shape.heads;
    for (std::int64_t first = 0; first < all; first += m_chunk) {
      HeadChunk const chunk = {first, std::min(m_chunk, all - first), m_shape.heads, 1};
      for_batches(arguments, chunk, [&](std::int64_t i, std::int64_t count) {
        kokkos_ext::labelled(exec, "flashpad::naive_vendor::scores", [&] {
          m_blas->multiply(exec, m_dtype, scores_product(arguments, chunk, i, count));
        });
      });
      softmax(exec, arguments, chunk);
      for_batches(arguments, chunk, [&](std::int64_t i, std::int64_t count) {
        kokkos_ext::labelled(exec, "flashpad::naive_vendor::values", [&] {
          m_blas->multiply(exec, m_dtype, values_product(arguments, chunk, i, count));
        });
      });
    }
  }

 private:
  static constexpr std::int64_t size = sizeof(Storage);

  void choose_chunk(double asked) {
    // Larger than any second-level cache (what lives in one is another experiment: workspace_limit), and on a
    // GPU large enough for launches that take long next to their ends.
    constexpr double default_limit = kokkos_ext::is_host<Exec> ? 0x1p28 : 0x1p31;
    constexpr double most_blas = 32.0 * 1024 * 1024;  // what cuBLAS takes for itself on a Hopper GPU
    double const one = static_cast<double>(m_seen.rows.size()) * static_cast<double>(m_pitch) * size;
    if (one > 0x1p60) {
      throw OutOfMemory(text("seq_q, seq_k: naive-vendor needs ", one, " bytes for the scores of one head"),
                        one);
    }
    if (asked > 0 && one > asked) {
      throw OutOfMemory(text("workspace_limit: naive-vendor needs ", one,
                             " bytes for the scores of one head; allowed: ", asked),
                        one);
    }
    double const all = static_cast<double>(m_shape.batch * m_shape.heads);
    if constexpr (!kokkos_ext::is_host<Exec>) {
      double const most = asked > 0 ? (asked - one) / 8 : most_blas;
      m_blas_bytes = static_cast<std::int64_t>(std::min(most_blas, most)) / 256 * 256;
    }
    double const room = asked > 0 ? asked - static_cast<double>(m_blas_bytes) : default_limit;
    // The softmax has a team a row, and a league is counted in int.
    double const rows = std::max<double>(1, static_cast<double>(m_seen.rows.size()));
    double const heads = std::min({all, one > 0 ? room / one : all, std::numeric_limits<int>::max() / rows});
    m_chunk = std::max<std::int64_t>(1, static_cast<std::int64_t>(heads));
  }

  [[nodiscard]] std::int64_t group() const { return m_shape.heads / m_shape.kv_heads; }

  /// The chunk in parts that one batched product takes: the heads of a batch entry or, where they share keys,
  /// of a key/value head; all entries at once where each tensor's heads go on through them at one stride.
  template <class Part>
  void for_batches(Arguments const& a, HeadChunk const& chunk, Part const& part) const {
    auto const goes_on = [&](TensorRef const& t) {
      return m_shape.batch == 1 || t.stride[0] == m_shape.heads * t.stride[1];
    };
    std::int64_t const run = group() > 1 ? group()
                             : goes_on(a.q) && goes_on(a.k) && goes_on(a.v) && goes_on(a.o)
                                 ? m_shape.batch * m_shape.heads
                                 : m_shape.heads;
    for (std::int64_t i = 0; i < chunk.count;) {
      std::int64_t const count = std::min(chunk.count - i, run - (chunk.first + i) % run);
      part(i, count);
      i += count;
    }
  }

  /// Rows of the tensor from head i of the chunk on.
  kokkos_ext::BatchedRows rows_of(TensorRef const& tensor, HeadChunk const& chunk, std::int64_t i,
                                  std::int64_t first_row, std::int64_t shared) const {
    Operand const operand_of = operand(tensor);
    return {operand_of.row(chunk.batch(i), chunk.head(i) / shared, first_row),
            tensor.extent[2] > 1 ? tensor.stride[2] : tensor.extent[3], shared > 1 ? 0 : tensor.stride[1]};
  }

  kokkos_ext::BatchedRows scores_of(std::int64_t i) const {
    std::int64_t const head = m_seen.rows.size() * m_pitch;
    return {m_workspace.data() + i * head * size, m_pitch, head};
  }

  kokkos_ext::BatchedProduct scores_product(Arguments const& a, HeadChunk const& chunk, std::int64_t i,
                                            std::int64_t count) const {
    kokkos_ext::BatchedProduct p;
    p.rows = m_seen.rows.size();
    p.columns = m_seen.keys.size();
    p.inner = m_shape.head_dim;
    p.count = count;
    p.b_transposed = true;
    p.alpha = m_scale;
    p.a = rows_of(a.q, chunk, i, m_seen.rows.begin, 1);
    p.b = rows_of(a.k, chunk, i, m_seen.keys.begin, group());
    p.c = scores_of(i);
    return p;
  }

  kokkos_ext::BatchedProduct values_product(Arguments const& a, HeadChunk const& chunk, std::int64_t i,
                                            std::int64_t count) const {
    kokkos_ext::BatchedProduct p;
    p.rows = m_seen.rows.size();
    p.columns = m_shape.value_dim;
    p.inner = m_seen.keys.size();
    p.count = count;
    p.a = scores_of(i);
    p.b = rows_of(a.v, chunk, i, m_seen.keys.begin, group());
    p.c = rows_of(a.o, chunk, i, m_seen.rows.begin, 1);
    return p;
  }

  void softmax(Exec const& exec, Arguments const& arguments, HeadChunk const& chunk) const {
    auto const fill = [&](auto& functor) {
      functor.scores = reinterpret_cast<Storage*>(m_workspace.data());
      functor.chunk = chunk;
      functor.variant = m_variant;
      functor.rows = m_seen.rows;
      functor.keys = m_seen.keys;
      if (arguments.lse.present) functor.lse = operand(arguments.lse);
    };
    if constexpr (kokkos_ext::is_host<Exec>) {
      NaiveSoftmax<Exec, Storage, T> functor;
      fill(functor);
      functor.table = m_table;
      using Policy = typename NaiveSoftmax<Exec, Storage, T>::Policy;
      auto const league = static_cast<int>(chunk.count * m_seen.rows.size());
      Kokkos::parallel_for("flashpad::naive_vendor::softmax", Policy(exec, league, 1, 1), functor);
      exec.fence();
    } else {
      VendorScores<Exec, Storage, T> scores;
      fill(scores);
      scores.pitch = m_pitch;
      launch_vendor_softmax(exec, scores);
    }
  }

  Shape m_shape;
  DType m_dtype;
  BandVariant m_variant;
  double m_scale;
  SeenRanges m_seen;
  std::int64_t m_pitch = 0;  ///< elements from a row of scores to the next
  std::int64_t m_chunk = 1;
  std::int64_t m_blas_bytes = 0;
  kokkos_ext::Bytes<Exec> m_workspace;
  std::unique_ptr<kokkos_ext::VendorBlas<Exec>> m_blas;
  engines::HostTable<T> m_table;
};

template <class Exec>
std::unique_ptr<Runner<Exec>> make_naive_vendor(Request<Exec> const& request) {
  std::string const missing = kokkos_ext::VendorBlas<Exec>::missing(request.dtype);
  if (!missing.empty()) throw Error(missing);
  if constexpr (!kokkos_ext::is_host<Exec>) {
    if (request.dtype == DType::fp16) return std::make_unique<VendorRunner<Exec, half, float>>(request);
    if (request.dtype == DType::bf16) return std::make_unique<VendorRunner<Exec, bfloat16, float>>(request);
  }
  if (request.dtype == DType::fp64) return std::make_unique<VendorRunner<Exec, double, double>>(request);
  return std::make_unique<VendorRunner<Exec, float, float>>(request);
}

}  // namespace flashpad::detail
