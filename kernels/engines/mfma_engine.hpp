// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mfma_layout.hpp"
#include "kernels/engines/mfma_products.hpp"
#include "kernels/fused/fused_problem.hpp"
#include "kernels/fused/key_tiles.hpp"
#include "problem/folded_scale.hpp"

#include <cfloat>
#include <cmath>
#include <cstddef>

namespace flashpad::engines {

/// What the engine below is compiled for. Head dimensions up to `dim` are served, with zeros above the true
/// one.
template <int Dim, int Waves, int Keys, int Teams, bool Ahead>
struct MfmaTiling {
  static constexpr int dim = Dim;
  static constexpr int waves = Waves;
  static constexpr int keys = Keys;     ///< most keys of a tile
  static constexpr int teams = Teams;   ///< that registers must leave room for on a compute unit
  static constexpr bool ahead = Ahead;  ///< the next tile waits in registers, where they have room for it
  static constexpr int rows = 32 * Waves;
};

/// Engine of AMD's matrix cores (FlashAttention-2). Each wavefront owns 32 query rows, and a lane, with the
/// lane 32 further on, owns one of them: its Q, its scores, its sum and its row of O stay in their registers.
/// For that the engine computes transposed, S^T = K Q^T and O^T = V^T P^T: a lane's elements of S^T are then
/// just those that it has to hold of P^T for the second product. K and V pass through scratch memory
/// (mfma_layout.hpp), V transposed on its way; the next tile waits in registers while this one is multiplied.
///
/// Free of Kokkos: any team with scratch memory and a barrier will do; and Wave may be an emulated one.
template <class Wave, class Element, class Tiling, class Member>
class MfmaEngine {
 public:
  using Compute = float;
  using Storage = Element;
  using Products = MfmaProducts<Wave, Storage>;
  using Layout = MfmaLayout<Tiling::dim, Tiling::keys>;
  using Acc = typename Wave::Acc;
  static constexpr int max_threads = Wave::lanes * Tiling::waves;
  static constexpr int min_teams = Tiling::teams;
  static constexpr int run_keys = 32;
  static constexpr bool one_run = Tiling::keys == run_keys;
  static constexpr int runs = Tiling::keys / run_keys;
  static constexpr int score_unit = run_keys;
  static constexpr bool masks_by_itself = false;
  static constexpr double log_unit = 0.69314718055994530942;
  static constexpr int alignment = 16;
  static constexpr int scratch_bytes = Layout::bytes;

  /// What follows from the problem alone.
  struct Config {
    float scale = 1;  ///< |scale| * log2(e), 1 where that is 0
    float sign = 1;   ///< of the scale: queries are multiplied by it
    float slack = 0;  ///< how far below a row's maximum its reference may be, in powers of two
    int key_chunks = 0;
    int value_chunks = 0;
  };

  static Config make_config(FusedProblem const& p) {
    FoldedScale const folded = FoldedScale::of(p.scale);
    Config config;
    config.scale = folded.factor;
    config.sign = folded.sign;
    config.slack = p.with_values ? 8.0f : 0.0f;
    config.key_chunks = static_cast<int>(p.shape.head_dim) / chunk;
    config.value_chunks = p.with_values ? static_cast<int>(p.shape.value_dim) / chunk : 0;
    return config;
  }

  FLASHPAD_FUNCTION MfmaEngine(Member const& team, FusedProblem const& p, Config const& config)
      : m_team(team),
        m_problem(p),
        m_config(config),
        m_wave(Wave::uniform(team.team_rank())),
        m_base(Wave::shared_address(team.team_scratch(0).get_shmem_aligned(
            static_cast<std::ptrdiff_t>(scratch_bytes), static_cast<std::ptrdiff_t>(alignment)))) {}

  /// The same in the whole team, which the compiler loses sight of in a division: told word by word, so that
  /// scalar registers hold it.
  template <class F>
  FLASHPAD_FUNCTION static auto setup(F const& make) {
    auto work = make();
    int words[sizeof(work) / sizeof(int)];
    static_assert(sizeof(words) == sizeof(work));
    __builtin_memcpy(words, &work, sizeof(work));
    FLASHPAD_UNROLL
    for (int& word : words) word = Wave::first_lane(word);  // some are padding
    __builtin_memcpy(&work, words, sizeof(work));
    return work;
  }

  // A wavefront's rows are one block, and each wavefront works on its own.
  FLASHPAD_FUNCTION static constexpr int key_unit() { return run_keys; }
  FLASHPAD_FUNCTION int first_block() const { return m_wave; }
  FLASHPAD_FUNCTION int end_block(int rows) const { return m_wave * wave_rows < rows ? m_wave + 1 : m_wave; }
  FLASHPAD_FUNCTION static int block_rows() { return wave_rows; }

  FLASHPAD_FUNCTION void load_queries(char const* rows_of_q, std::int64_t stride, int rows) {
    int const row = m_wave * wave_rows + lane_row();
    char const* const from = rows_of_q + row * stride;
    FLASHPAD_UNROLL
    for (int c = 0; c < slices; ++c) {
      bool const real = row < rows && 2 * c + lane_half() < m_config.key_chunks;
      load_or_zero(m_q[c].r, from + (2 * c + lane_half()) * 16, real);
      if (m_config.sign != 1) {
        FLASHPAD_UNROLL
        for (int i = 0; i < 4; ++i) m_q[c].r[i] = Products::scaled(m_q[c].r[i], m_config.sign);
      }
    }
    m_reference = -FLT_MAX;
    m_sum = 0;
    FLASHPAD_UNROLL
    for (int u = 0; u < columns; ++u) clear(m_o[u]);
  }

  /// Lets the first tile come. Chunks of K past the head dimension are zero from now on; what lies there of V
  /// makes columns of O that nobody stores.
  FLASHPAD_FUNCTION void begin(KeyTiles const& keys, int tile) {
    constexpr std::int64_t most_stride = 1 << 24;
    std::uint64_t const bits = reinterpret_cast<std::uintptr_t>(keys.k) |
                               reinterpret_cast<std::uintptr_t>(keys.v) |
                               static_cast<std::uint64_t>(keys.k_stride | keys.v_stride);
    m_direct = bits % 16 == 0 && keys.k_stride < most_stride && keys.v_stride < most_stride &&
               keys.k_stride >= 0 && keys.v_stride >= 0 && m_problem.tile_k == Tiling::keys;
    if (m_config.key_chunks < Tiling::dim / chunk) clear_key_padding();
    fetch(keys, tile);
  }

  /// Makes a tile readable, and lets the next one come.
  FLASHPAD_FUNCTION void bring(KeyTiles const& keys, int tile) {
    m_team.team_barrier();  // everyone is done with the last tile
    if (is_direct(keys, tile)) {
      put();
    } else {
      copy(keys, tile);
    }
    m_team.team_barrier();
    fetch(keys, tile + 1);
  }

  /// S^T = K Q^T for 32 keys: a lane has those numbered 8 (e / 4) + 4 h + e % 4 of its query.
  FLASHPAD_FUNCTION void scores(int, int first, int) {
    clear(m_s);
    FLASHPAD_UNROLL
    for (int c = 0; c < slices; ++c) {
      Chunk k;
      Wave::load_shared(k.r, m_base + Layout::key_at(first + lane_row(), 2 * c + lane_half()));
      Products::multiply(m_s, k.lower(), m_q[c].lower());
      Products::multiply(m_s, k.upper(), m_q[c].upper());
    }
  }

  /// Over the whole run, keys that do not exist included.
  template <class F>
  FLASHPAD_FUNCTION void for_each(int, int first, int, F const& f) {
    int const lane = Wave::again(Wave::lane());
    int const row = lane & 31;
    int const key = first + 4 * (lane >> 5);
    FLASHPAD_UNROLL
    for (int e = 0; e < 16; ++e) {
      float score = m_s[e];
      f(row, key + 8 * (e >> 2) + (e & 3), score);
      m_s[e] = score;
    }
  }

  /// P = 2^(scale * s - reference). A row's reference is raised, and O rescaled, only where the largest
  /// exponent passes `slack`; from 2^27 on, where the multiply-add's own rounding is larger, products are
  /// rounded by themselves. MmaEngine::softmax says why.
  FLASHPAD_FUNCTION void softmax(int, int) {
    float top = m_s[0];
    FLASHPAD_UNROLL
    for (int e = 1; e < 16; ++e) top = fmaxf(top, m_s[e]);
    bool const raise = fmaf(top, m_config.scale, -m_reference) > m_config.slack;
    if (Wave::any(raise) && raise_reference(top)) {
      probabilities([&](float s) { return product_down(s, m_config.scale) - m_reference; });
    } else {
      probabilities([&](float s) { return fmaf(s, m_config.scale, -m_reference); });
    }
  }

  /// O^T += V^T P^T for the run's keys, 16 at a time.
  FLASHPAD_FUNCTION void accumulate(int, int first, int) {
    FLASHPAD_UNROLL
    for (int q = 0; q < run_keys / 16; ++q) {
      Chunk p;
      FLASHPAD_UNROLL
      for (int i = 0; i < 4; ++i) p.r[i] = Products::pack(m_s[8 * q + 2 * i], m_s[8 * q + 2 * i + 1]);
      FLASHPAD_UNROLL
      for (int u = 0; u < columns; ++u) {
        Chunk v;
        Wave::load_shared(v.r,
                          m_base + Layout::value_at(u * 32 + lane_row(), (first >> 3) + 2 * q + lane_half()));
        Products::multiply(m_o[u], v.lower(), p.lower());
        Products::multiply(m_o[u], v.upper(), p.upper());
      }
    }
  }

  FLASHPAD_FUNCTION void finish(FusedProblem const& problem, WorkItem const& item, std::int64_t row_begin,
                                int rows) {
    FusedProblem const& p = Wave::read_again(problem);
    int const row = m_wave * wave_rows + lane_row();
    float const sum = m_sum + Wave::from_other_half(m_sum);
    if (row >= rows) return;
    if (lane_half() == 0) write_statistics(p, item, row_begin + row, sum);
    if (!p.with_values) return;
    float const factor = sum == 0 ? 0.0f : 1 / sum;
    bool const partial = p.schedule.splits > 1;
    char* const to = partial
                         ? reinterpret_cast<char*>(static_cast<float*>(p.partials.o) +
                                                   p.partial_row(item, row_begin + row) * p.shape.value_dim)
                         : p.o.row(item.batch, item.head, row_begin + row);
    FLASHPAD_UNROLL
    for (int u = 0; u < columns; ++u) {
      FLASHPAD_UNROLL
      for (int g = 0; g < 4; ++g) {
        if (4 * u + g >= m_config.value_chunks) continue;
        float o[4];
        // A row without keys gives 0, not 0 * NaN of a value that only other rows see.
        FLASHPAD_UNROLL
        for (int i = 0; i < 4; ++i) o[i] = sum == 0 ? 0.0f : m_o[u][4 * g + i] * factor;
        store(to, 32 * u + 8 * g + 4 * lane_half(), o, partial);
      }
    }
  }

 private:
  static constexpr int wave_rows = 32;
  static constexpr int slices = Tiling::dim / 16;   ///< of 32 bytes of a row of Q or K
  static constexpr int columns = Tiling::dim / 32;  ///< accumulators of O^T
  static constexpr int chunk = 8;
  static constexpr int key_passes = (Layout::key_units + max_threads - 1) / max_threads;
  static constexpr int value_passes = (Layout::value_units + max_threads - 1) / max_threads;

  /// 8 elements: operands of two products.
  struct Chunk {
    std::uint32_t r[4];
    FLASHPAD_FUNCTION std::uint32_t const (&lower() const)[2] {
      return *reinterpret_cast<std::uint32_t const(*)[2]>(r);
    }
    FLASHPAD_FUNCTION std::uint32_t const (&upper() const)[2] {
      return *reinterpret_cast<std::uint32_t const(*)[2]>(r + 2);
    }
  };

  FLASHPAD_FUNCTION static int lane_row() { return Wave::lane() & 31; }
  FLASHPAD_FUNCTION static int lane_half() { return Wave::lane() >> 5; }
  FLASHPAD_FUNCTION int thread() const { return m_wave * Wave::lanes + Wave::again(Wave::lane()); }

  FLASHPAD_FUNCTION static void clear(Acc& a) {
    FLASHPAD_UNROLL
    for (int e = 0; e < 16; ++e) a[e] = 0;
  }

  template <int Words>
  FLASHPAD_FUNCTION static bool aligned(char const* pointer) {
    return (reinterpret_cast<std::uintptr_t>(pointer) & (4 * Words - 1)) == 0;
  }

  template <int Words>
  FLASHPAD_FUNCTION static void load_or_zero(std::uint32_t (&words)[Words], char const* from, bool real) {
    FLASHPAD_UNROLL
    for (int i = 0; i < Words; ++i) words[i] = 0;
    if (!real) return;
    if (aligned<Words>(from)) {
      Wave::load_global(words, from, 0);
    } else {
      Products::load_elements(words, from);
    }
  }

  /// Whether a tile goes by way of registers: one with all of its keys, from rows that begin at multiples of
  /// 16 bytes and are not far apart. Any other is copied when it is wanted.
  FLASHPAD_FUNCTION bool is_direct(KeyTiles const& keys, int tile) const {
    return Tiling::ahead && m_direct && tile < keys.whole;
  }

  /// A thread's part of a tile, to registers. Columns past the head dimensions are not stored.
  FLASHPAD_FUNCTION void fetch(KeyTiles const& keys, int tile) {
    if (tile >= keys.end || !is_direct(keys, tile)) return;
    int const me = thread();
    char const* const k = keys.k_rows(tile);
    FLASHPAD_UNROLL
    for (int i = 0; i < key_passes; ++i) {
      auto const unit = Layout::key_unit(me + i * max_threads);
      if (has_key_unit(me, i) && unit.chunk < m_config.key_chunks)
        Wave::load_global(m_next_k[i].r, k, offset(unit.key, keys.k_stride, unit.chunk * 16));
    }
    if (!m_problem.with_values) return;
    char const* const v = keys.v_rows(tile);
    FLASHPAD_UNROLL
    for (int i = 0; i < value_passes; ++i) {
      auto const unit = Layout::value_unit(me + i * max_threads);
      int const key = Layout::value_key(unit.chunk, unit.half);
      if (!has_value_unit(me, i) || unit.column >= m_config.value_chunks * chunk) continue;
      FLASHPAD_UNROLL
      for (int j = 0; j < 4; ++j)
        Wave::load_global(m_next_v[i][j], v, offset(key + j, keys.v_stride, unit.column * 2));
    }
  }

  FLASHPAD_FUNCTION static std::uint32_t offset(int row, std::int64_t stride, int column) {
    return static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(stride) +
           static_cast<std::uint32_t>(column);
  }
  FLASHPAD_FUNCTION static bool has_key_unit(int thread, int pass) {
    return (pass + 1) * max_threads <= Layout::key_units || thread + pass * max_threads < Layout::key_units;
  }
  FLASHPAD_FUNCTION static bool has_value_unit(int thread, int pass) {
    return (pass + 1) * max_threads <= Layout::value_units ||
           thread + pass * max_threads < Layout::value_units;
  }

  FLASHPAD_FUNCTION void put() const {
    int const me = thread();
    FLASHPAD_UNROLL
    for (int i = 0; i < key_passes; ++i) {
      auto const unit = Layout::key_unit(me + i * max_threads);
      if (has_key_unit(me, i) && unit.chunk < m_config.key_chunks)
        Wave::store_shared(m_base + Layout::key_at(unit.key, unit.chunk), m_next_k[i].r);
    }
    if (!m_problem.with_values) return;
    FLASHPAD_UNROLL
    for (int i = 0; i < value_passes; ++i) {
      if (has_value_unit(me, i)) put_values(Layout::value_unit(me + i * max_threads), m_next_v[i]);
    }
  }

  /// Four rows of V by four columns, transposed.
  FLASHPAD_FUNCTION void put_values(typename Layout::ValueUnit const& unit,
                                    std::uint32_t const (&rows)[4][2]) const {
    FLASHPAD_UNROLL
    for (int column = 0; column < 4; ++column) {
      std::uint32_t pairs[2];
      FLASHPAD_UNROLL
      for (int j = 0; j < 2; ++j) {
        std::uint32_t const low = rows[2 * j][column >> 1];
        std::uint32_t const high = rows[2 * j + 1][column >> 1];
        pairs[j] = (column & 1) == 0 ? (low & 0xffffu) | high << 16 : low >> 16 | (high & 0xffff0000u);
      }
      Wave::store_shared(m_base + Layout::value_at(unit.column + column, unit.chunk) +
                             static_cast<std::uint32_t>(8 * unit.half),
                         pairs);
    }
  }

  /// A tile as it is: some keys, rows anywhere; zeros for the keys that do not exist.
  FLASHPAD_FUNCTION void copy(KeyTiles const& keys, int tile) const {
    int const count = keys.count(tile);
    char const* const k = keys.k_rows(tile);
    FLASHPAD_KEEP_LOOP
    for (int index = thread(); index < Layout::key_units; index += max_threads) {
      auto const unit = Layout::key_unit(index);
      Chunk words;
      load_or_zero(words.r, k + unit.key * keys.k_stride + unit.chunk * 16,
                   unit.key < count && unit.chunk < m_config.key_chunks);
      Wave::store_shared(m_base + Layout::key_at(unit.key, unit.chunk), words.r);
    }
    if (!m_problem.with_values) return;
    char const* const v = keys.v_rows(tile);
    FLASHPAD_KEEP_LOOP
    for (int index = thread(); index < Layout::value_units; index += max_threads) {
      auto const unit = Layout::value_unit(index);
      int const key = Layout::value_key(unit.chunk, unit.half);
      std::uint32_t rows[4][2];
      FLASHPAD_UNROLL
      for (int j = 0; j < 4; ++j) {
        load_or_zero(rows[j], v + (key + j) * keys.v_stride + unit.column * 2,
                     key + j < count && unit.column < m_config.value_chunks * chunk);
      }
      put_values(unit, rows);
    }
  }

  FLASHPAD_FUNCTION void clear_key_padding() const {
    std::uint32_t const zero[4] = {0, 0, 0, 0};
    FLASHPAD_KEEP_LOOP
    for (int index = thread(); index < Layout::key_units; index += max_threads) {
      auto const unit = Layout::key_unit(index);
      if (unit.chunk >= m_config.key_chunks)
        Wave::store_shared(m_base + Layout::key_at(unit.key, unit.chunk), zero);
    }
  }

  /// Scores to P = 2^exponent, and their sum.
  template <class Exponent>
  FLASHPAD_FUNCTION void probabilities(Exponent const& exponent) {
    FLASHPAD_UNROLL
    for (int e = 0; e < 16; ++e) {
      float const p = Wave::exp2(exponent(m_s[e]));
      m_s[e] = p;
      m_sum += p;
    }
  }

  /// Whether some row of the wavefront is so far out that its reference cannot be told from its maximum.
  FLASHPAD_FUNCTION bool raise_reference(float top) {
    float const max = fmaxf(top, Wave::from_other_half(top));
    float const reference = fmaxf(m_reference, product_down(max, m_config.scale));
    float const factor = Wave::exp2(m_reference - reference);
    m_reference = reference;
    m_sum *= factor;
    FLASHPAD_UNROLL
    for (int u = 0; u < columns; ++u) {
      FLASHPAD_UNROLL
      for (int e = 0; e < 16; ++e) m_o[u][e] *= factor;
    }
    return Wave::any(fmaf(max, m_config.scale, -reference) > 8.0f);
  }

  /// The product, rounded towards minus infinity, and never as part of a multiply-add: its bits are changed.
  FLASHPAD_FUNCTION static float product_down(float a, float b) {
    float const product = a * b;
    if (!(fmaf(a, b, -product) < 0)) return product;
    std::uint32_t bits;
    __builtin_memcpy(&bits, &product, sizeof(bits));
    bits = product > 0 ? bits - 1 : product < 0 ? bits + 1 : 0x80000001u;
    float lower;
    __builtin_memcpy(&lower, &bits, sizeof(lower));
    return lower;
  }

  FLASHPAD_FUNCTION void write_statistics(FusedProblem const& p, WorkItem const& item, std::int64_t row,
                                          float sum) const {
    constexpr auto ln_2 = static_cast<float>(log_unit);
    // A row that saw no key, or -infinity alone.
    float const max = sum == 0 ? -HUGE_VALF : m_reference;
    if (p.schedule.splits > 1) {  // in powers of two: the merge takes differences, which are exact
      std::int64_t const at = p.partial_row(item, row);
      static_cast<float*>(p.partials.max)[at] = max;
      static_cast<float*>(p.partials.sum)[at] = sum;
      return;
    }
    if (p.lse.data != nullptr) {
      p.lse.element<float>(item.batch, item.head, row) = sum == 0 ? max : max * ln_2 + logf(sum);
    }
    if (p.max.data != nullptr) p.max.element<float>(item.batch, item.head, row) = max * ln_2;
    if (p.sum.data != nullptr) p.sum.element<float>(item.batch, item.head, row) = sum;
  }

  /// Four neighbours of a row of O, or of a part's O in float32.
  FLASHPAD_FUNCTION void store(char* row, int column, float const (&o)[4], bool partial) const {
    if (partial) {
      FLASHPAD_UNROLL
      for (int i = 0; i < 4; ++i) reinterpret_cast<float*>(row)[column + i] = o[i];
      return;
    }
    std::uint32_t const words[2] = {Products::pack(o[0], o[1]), Products::pack(o[2], o[3])};
    char* const to = row + column * 2;
    if (aligned<2>(to)) {
      Wave::store_global(to, words);
    } else {
      Products::store_elements(to, words);
    }
  }

  Member const& m_team;
  FusedProblem const& m_problem;
  Config const& m_config;
  int m_wave;
  std::uint32_t m_base;
  bool m_direct = false;
  Chunk m_q[slices];
  Chunk m_next_k[key_passes];
  std::uint32_t m_next_v[value_passes][4][2];
  Acc m_s;
  Acc m_o[columns];
  float m_reference;
  float m_sum;
};

}  // namespace flashpad::engines
