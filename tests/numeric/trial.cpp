// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numeric/trial.hpp"

#include <flashpad/attention.hpp>

#include "kokkos_ext/execution.hpp"
#include "measure/backend.hpp"
#include "measure/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace flashpad::test {

namespace {

constexpr std::int64_t guard_bytes = 256;
constexpr std::byte poison{0xff};  // a NaN in every type

/// A tensor in a poisoned buffer.
class Tensor {
 public:
  Tensor(measure::Extents const& extents, DType dtype, Placement const& placement)
      : m_extents(extents), m_dtype(dtype) {
    std::int64_t const row = extents.columns + placement.row_gap;
    bool const rows_inside = placement.layout == Layout::bhnd;
    m_stride[3] = 1;
    m_stride[rows_inside ? 2 : 1] = row;
    std::int64_t const inner = (rows_inside ? extents.rows : extents.heads) * row + placement.head_gap;
    m_stride[rows_inside ? 1 : 2] = inner;
    m_stride[0] = inner * (rows_inside ? extents.heads : extents.rows);
    std::int64_t const elements = placement.base + m_stride[0] * extents.batch;
    m_bytes.assign(static_cast<std::size_t>(2 * guard_bytes + elements * size_of(dtype) + 64), poison);
    // Aligned to a cache line first, so that `base` says exactly how far off the tensor is.
    auto const address = reinterpret_cast<std::uintptr_t>(m_bytes.data()) + guard_bytes;
    m_first = static_cast<std::int64_t>((address + 63) / 64 * 64 - address) + guard_bytes +
              placement.base * size_of(dtype);
  }

  [[nodiscard]] std::byte* data() { return m_bytes.data() + m_first; }
  [[nodiscard]] std::int64_t offset(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t c) const {
    return b * m_stride[0] + h * m_stride[1] + n * m_stride[2] + c;
  }

  void put(std::vector<double> const& values) {
    each([&](std::int64_t index, std::int64_t at) {
      measure::store(data(), m_dtype, at, values[static_cast<std::size_t>(index)]);
    });
  }

  std::vector<double> get() {
    std::vector<double> values(static_cast<std::size_t>(m_extents.count()));
    each([&](std::int64_t index, std::int64_t at) {
      values[static_cast<std::size_t>(index)] = measure::load(data(), m_dtype, at);
    });
    return values;
  }

  /// Whether every byte outside the elements is still poisoned.
  bool guards_intact() {
    std::vector<bool> mine(m_bytes.size(), false);
    each([&](std::int64_t, std::int64_t at) {
      for (std::int64_t i = 0; i < size_of(m_dtype); ++i) {
        mine[static_cast<std::size_t>(m_first + at * size_of(m_dtype) + i)] = true;
      }
    });
    for (std::size_t i = 0; i < m_bytes.size(); ++i) {
      if (!mine[i] && m_bytes[i] != poison) return false;
    }
    return true;
  }

  std::vector<std::byte>& bytes() { return m_bytes; }

  /// The tensor in a copy of the buffer that begins at `first`, which is as far off a cache line as the
  /// buffer is.
  detail::TensorRef reference(void* first) {
    return {static_cast<std::byte*>(first) + m_first,
            {m_extents.batch, m_extents.heads, m_extents.rows, m_extents.columns},
            {m_stride[0], m_stride[1], m_stride[2], m_stride[3]},
            m_dtype,
            true};
  }

 private:
  template <class F>
  void each(F const& f) {
    std::int64_t index = 0;
    for (std::int64_t b = 0; b < m_extents.batch; ++b) {
      for (std::int64_t h = 0; h < m_extents.heads; ++h) {
        for (std::int64_t n = 0; n < m_extents.rows; ++n) {
          for (std::int64_t c = 0; c < m_extents.columns; ++c) f(index++, offset(b, h, n, c));
        }
      }
    }
  }

  measure::Extents m_extents;
  DType m_dtype;
  std::int64_t m_stride[4] = {};
  std::vector<std::byte> m_bytes;
  std::int64_t m_first = 0;
};

Case case_of(Way const& way, Trial const& trial) {
  Case one;
  one.name = "trial";
  one.shape = trial.shape;
  one.dtype = way.dtype;
  one.mask = trial.mask;
  one.scale = trial.scale;
  one.distribution = trial.distribution;
  one.seed = trial.seed;
  one.kernel = way.kernel;
  one.backend = way.backend;
  one.engine = way.engine;
  return one;
}

/// A tensor where Exec can reach it: itself, or a copy on the device, guards and gaps included.
template <class Exec>
class Placed {
 public:
  Placed(Exec const& exec, Tensor& tensor) : m_exec(exec), m_tensor(tensor), m_first(tensor.bytes().data()) {
    if constexpr (kokkos_ext::is_host<Exec>) return;
    m_copy = kokkos_ext::allocate(exec, "flashpad::test::tensor", tensor.bytes().size() + 64);
    auto const misaligned = [](void const* address) {
      return reinterpret_cast<std::uintptr_t>(address) % 64;
    };
    m_first = m_copy.data() + (64 + misaligned(m_first) - misaligned(m_copy.data())) % 64;
    Kokkos::deep_copy(exec, device(), host());
  }

  detail::TensorRef reference() { return m_tensor.reference(m_first); }

  void fetch() {
    if constexpr (!kokkos_ext::is_host<Exec>) Kokkos::deep_copy(m_exec, host(), device());
  }

 private:
  template <class Space>
  using Bytes = Kokkos::View<char*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  [[nodiscard]] Bytes<typename Exec::memory_space> device() const {
    return Bytes<typename Exec::memory_space>(static_cast<char*>(m_first), m_tensor.bytes().size());
  }
  [[nodiscard]] Bytes<Kokkos::HostSpace> host() const {
    return Bytes<Kokkos::HostSpace>(reinterpret_cast<char*>(m_tensor.bytes().data()),
                                    m_tensor.bytes().size());
  }

  Exec m_exec;
  Tensor& m_tensor;
  void* m_first;
  kokkos_ext::Bytes<Exec> m_copy;
};

template <class Exec>
Result run_on(Way const& way, Trial const& trial, measure::Inputs const& inputs) {
  Options options;
  options.mask = trial.mask;
  options.scale = trial.scale;
  options.kernel = way.kernel;
  options.engine = way.engine;
  options.tile = trial.tile;
  options.team_size = trial.team_size;
  options.stages = trial.stages;
  options.splits = trial.splits;
  options.skip_hidden_tiles = trial.skip_hidden_tiles;
  options.probabilities_in_input_type = trial.probabilities_in_input_type;
  options.workspace_limit = trial.workspace_limit;

  Shape const& s = trial.shape;
  Tensor q(measure::extents_of_q(s), way.dtype, trial.placement);
  Tensor k(measure::extents_of_k(s), way.dtype, trial.placement);
  Tensor v(measure::extents_of_v(s), way.dtype, trial.placement);
  Tensor o(measure::extents_of_o(s), way.dtype, trial.placement);
  DType const statistic = way.dtype == DType::fp64 ? DType::fp64 : DType::fp32;
  measure::Extents const per_row{s.batch, s.heads, s.seq_q, 1};
  Tensor first(per_row, statistic, trial.placement);
  Tensor second(per_row, statistic, trial.placement);
  q.put(inputs.q);
  k.put(inputs.k);
  v.put(inputs.v);

  Exec const exec;
  Plan<Exec> const plan(exec, s, way.dtype, options);
  Placed<Exec> placed[] = {{exec, q}, {exec, k}, {exec, v}, {exec, o}, {exec, first}, {exec, second}};
  detail::Arguments arguments;
  arguments.q = placed[0].reference();
  arguments.k = placed[1].reference();
  if (way.kernel == Kernel::stats) {
    arguments.max = placed[4].reference();
    arguments.sum = placed[5].reference();
  } else {
    arguments.v = placed[2].reference();
    arguments.o = placed[3].reference();
    if (trial.with_lse) arguments.lse = placed[4].reference();
  }
  plan.run(exec, arguments);
  for (Placed<Exec>& tensor : placed) tensor.fetch();
  exec.fence();

  Result result;
  result.choice = plan.choice();
  result.guards_intact = q.guards_intact() && k.guards_intact() && v.guards_intact() && o.guards_intact() &&
                         first.guards_intact() && second.guards_intact();
  if (way.kernel == Kernel::stats) {
    result.outputs.lse = first.get();
    std::vector<double> const sum = second.get();
    for (std::size_t i = 0; i < sum.size(); ++i) result.outputs.lse[i] += std::log(sum[i]);
  } else {
    result.outputs.o = measure::pack(o.get(), measure::extents_of_o(s), way.dtype, Layout::bhnd);
    result.outputs.lse = first.get();
  }
  return result;
}

/// What may be refused: teams and stages that an engine does not vary; by hopper, rows that the copy engine
/// cannot address, and a visit to hidden tiles; by the others on a GPU, a tile that needs more team scratch
/// than 36 KB.
bool may_refuse(Way const& way, Trial const& trial) {
  if (trial.team_size != 0 || trial.stages != 0) return true;
  if (has_tiles(way) && way.backend == "cuda") {
    std::int64_t const dims = trial.shape.head_dim + trial.shape.value_dim;
    auto const [q, k] = trial.tile;
    // Above the engine's own tiles, and float32 of more columns than a warp's registers hold.
    std::int64_t const dim = std::max(trial.shape.head_dim, trial.shape.value_dim);
    if (way.engine.starts_with("mma") && (q > 64 || k > 16 || (dim > 128 && way.dtype == DType::fp32)))
      return true;
    return (q * (dims + k + 2) + k * (dims + 1)) * std::max(4, size_of(way.dtype)) > 36000;
  }
  if (has_tiles(way) && way.backend == "hip") {
    std::int64_t const dims = trial.shape.head_dim + trial.shape.value_dim;
    auto const [q, k] = trial.tile;
    if (way.engine == "mfma") return q > 128 || k > 32;
    return (q * (dims + k + 2) + k * (dims + 1)) * std::max(4, size_of(way.dtype)) > 56000;
  }
  if (way.kernel != Kernel::hopper) return false;
  Placement const& p = trial.placement;
  bool const aligned = p.base % 8 == 0 && p.row_gap % 8 == 0 && p.head_gap % 8 == 0;
  return !aligned || !trial.skip_hidden_tiles;
}

}  // namespace

std::ostream& operator<<(std::ostream& to, Way const& way) {
  to << way.backend << '_' << name(way.kernel);
  if (!way.engine.empty()) to << '_' << way.engine;
  return to << '_' << name(way.dtype);
}

std::string name_of(testing::TestParamInfo<Way> const& info) {
  std::ostringstream text;
  text << info.param;
  std::string name = text.str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

namespace {

[[maybe_unused]] std::string best(std::vector<std::string> const& engines) {
  return engines[0] == "portable" ? engines[1] : engines[0];
}

[[maybe_unused]] std::string best_rows(std::vector<std::string> const& engines) {
  return *(std::find(engines.begin(), engines.end(), "rows") + 1);
}

}  // namespace

std::vector<Way> ways_in(DType dtype) {
  std::vector<Way> ways;
  auto const add = [&](std::string const& backend, std::vector<std::string> const& engines) {
    ways.push_back({backend, Kernel::naive, "", dtype});
    // A host's BLAS multiplies these alone; one host backend is enough, the code is the same.
    bool const has_vendor = backend == "cuda" || (backend == "serial" && size_of(dtype) > 2);
    if (has_vendor) ways.push_back({backend, Kernel::naive_vendor, "", dtype});
    for (std::string const& engine : engines) {
      if (engine == "portable" || engine == "rows") continue;  // other names of one of the rest
      if (engine == "mma-tf32") continue;  // too coarse for logits made to break; see grid_test.cpp
      ways.push_back({backend, Kernel::fused, engine, dtype});
      ways.push_back({backend, Kernel::stats, engine, dtype});
    }
  };
#ifdef KOKKOS_ENABLE_SERIAL
  add("serial", engine_names<Kokkos::Serial>(dtype));
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  // One backend runs every engine; the others run the same code, with the best one and with SIMT.
  std::vector<std::string> const engines = engine_names<Kokkos::OpenMP>(dtype);
  add("openmp", {best(engines), best_rows(engines), "simt"});
#endif
#ifdef KOKKOS_ENABLE_THREADS
  add("threads", {best(engine_names<Kokkos::Threads>(dtype))});
#endif
#ifdef KOKKOS_ENABLE_CUDA
  add("cuda", engine_names<Kokkos::Cuda>(dtype));
  if (size_of(dtype) == 2) {
    ways.push_back({"cuda", Kernel::hopper, "", dtype});
    ways.push_back({"cuda", Kernel::automatic, "", dtype});
  }
#endif
  return ways;
}

std::vector<Way> ways_for_masks() {
  std::vector<Way> ways = ways_in(DType::fp32);
  for (Way const& way : ways_in(DType::fp16)) {
    bool const in_fp32 = std::any_of(ways.begin(), ways.end(), [&](Way const& other) {
      return other.backend == way.backend && other.kernel == way.kernel && other.engine == way.engine;
    });
    if (!in_fp32) ways.push_back(way);
  }
  return ways;
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    std::vector<Way> const more = ways_in(dtype);
    ways.insert(ways.end(), more.begin(), more.end());
  }
  return ways;
}

measure::Inputs make_inputs(Way const& way, Trial const& trial) {
  measure::Inputs inputs = measure::make_inputs(case_of(way, trial));
  if (trial.edit) trial.edit(trial.shape, inputs);
  inputs.finite = true;
  for (std::vector<double>* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    for (double& value : *tensor) {
      value = measure::rounded(value, way.dtype);
      if (!std::isfinite(value)) inputs.finite = false;
    }
  }
  return inputs;
}

Result run(Way const& way, Trial const& trial, measure::Inputs const& inputs) {
#ifdef KOKKOS_ENABLE_SERIAL
  if (way.backend == "serial") return run_on<Kokkos::Serial>(way, trial, inputs);
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  if (way.backend == "openmp") return run_on<Kokkos::OpenMP>(way, trial, inputs);
#endif
#ifdef KOKKOS_ENABLE_THREADS
  if (way.backend == "threads") return run_on<Kokkos::Threads>(way, trial, inputs);
#endif
#ifdef KOKKOS_ENABLE_CUDA
  if (way.backend == "cuda") return run_on<Kokkos::Cuda>(way, trial, inputs);
#endif
  throw Error("backend: " + way.backend + " is not in this build");
}

Result expect_right(Way const& way, Trial const& trial) {
  measure::Inputs const inputs = make_inputs(way, trial);
  Result result;
  try {
    result = run(way, trial, inputs);
  } catch (Error const& error) {
    EXPECT_TRUE(may_refuse(way, trial)) << way << ": " << error.what();
    result.refused = true;
    return result;
  }
  Case const one = case_of(way, trial);
  std::vector<measure::QueryRow> rows = measure::rows_to_verify(trial.shape);
  measure::Expected const expected = measure::make_expected(one, inputs, std::move(rows));
  if (!trial.with_lse && way.kernel != Kernel::stats) result.outputs.lse = expected.lse;
  measure::Verdict const verdict = measure::verify(one, inputs, expected, result.outputs, result.choice.tile);
  Shape const& s = trial.shape;
  EXPECT_FALSE(verdict.symptom.has_value())
      << verdict.reason << "\n  " << way << ", batch " << s.batch << ", heads " << s.heads << "/"
      << s.kv_heads << ", seq " << s.seq_q << " x " << s.seq_k << ", dim " << s.head_dim << "/" << s.value_dim
      << ", mask " << to_string(trial.mask) << ", tile " << result.choice.tile.q << "x"
      << result.choice.tile.k << ", splits " << result.choice.splits;
  EXPECT_TRUE(result.guards_intact) << "written outside the tensor: " << way;
  return result;
}

Tile small_tile(Way const& way) { return has_tiles(way) ? Tile{16, 16} : Tile{}; }

bool has_tiles(Way const& way) { return way.kernel == Kernel::fused || way.kernel == Kernel::stats; }

}  // namespace flashpad::test
