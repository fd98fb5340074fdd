// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kokkos_ext/half.hpp"

#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// A team of emulated wavefronts on the host, on which the mfma engine runs as it is: each lane is a fiber,
// and lanes of a wavefront meet at its instructions, all lanes of the team at barriers. What an instruction
// does with the lanes' registers is written down here from AMD's documentation, and knows nothing of the
// engine's maps.

namespace flashpad::emulation {

/// Which elements of A, B and D a lane holds: element e of lane l, as ROCm/amd_matrix_instruction_calculator
/// (--detail-instruction, "Register to matrix element mapping") has it for
///   v_mfma_f32_32x32x8f16 (CDNA 1 and 2), _32x32x8bf16_1k (CDNA 2), _32x32x8_f16 and _32x32x8_bf16 (CDNA 3)
///   v_mfma_f32_32x32x4bf16 (CDNA 1)
struct Instruction {
  int k;  ///< columns of A, rows of B

  [[nodiscard]] int a_row(int lane) const { return lane % 32; }
  [[nodiscard]] int b_column(int lane) const { return lane % 32; }
  [[nodiscard]] int inner(int lane, int e) const { return k / 2 * (lane / 32) + e; }
  [[nodiscard]] int d_column(int lane) const { return lane % 32; }
  [[nodiscard]] int d_row(int lane, int e) const { return 8 * (e / 4) % 32 + 4 * (lane / 32) + e % 4; }
};

/// One access to the local data share.
struct Access {
  bool store;
  int wave, lane;
  int epoch;    ///< barriers before it
  int ordinal;  ///< among this lane's accesses of this kind since
  std::uint32_t address;
  int bytes;
};

class Team {
 public:
  static constexpr int lanes = 64;

  Team(int waves, std::size_t scratch_bytes) : m_waves(waves), m_scratch(scratch_bytes + 64, 0xff) {}

  /// Runs `body` in every lane to its end. Throws where lanes part at an instruction.
  void run(std::function<void()> const& body) {
    m_body = &body;
    s_running = this;
    int const count = m_waves * lanes;
    m_fibers.clear();
    m_waiting.assign(static_cast<std::size_t>(m_waves), Meeting{});
    m_barrier = Meeting{};
    for (int i = 0; i < count; ++i) {
      m_fibers.push_back(std::make_unique<Fiber>());
      Fiber& fiber = *m_fibers.back();
      // Another in each lane, so that what is read before it is written is not the same in all of them by
      // luck.
      std::memset(fiber.stack.data(), i * 37 + 1, fiber.stack.size());
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.data();
      fiber.context.uc_stack.ss_size = fiber.stack.size();
      fiber.context.uc_link = &m_scheduler;
      makecontext(&fiber.context, &Team::enter, 0);
    }
    for (int left = count; left > 0;) {
      bool moved = false;
      for (m_current = 0; m_current < count; ++m_current) {
        Fiber& fiber = *m_fibers[static_cast<std::size_t>(m_current)];
        if (fiber.done || fiber.blocked_on != nullptr) continue;
        moved = true;
        swapcontext(&m_scheduler, &fiber.context);
        if (fiber.done) --left;
        if (m_error) std::rethrow_exception(m_error);
      }
      if (!moved) throw std::runtime_error("lanes part: some wait for others that have gone on");
    }
  }

  static Team& running() { return *s_running; }
  [[nodiscard]] int lane() const { return m_current % lanes; }
  [[nodiscard]] int wave() const { return m_current / lanes; }

  /// Every lane of the wavefront gives a value and gets all of them.
  template <class T>
  std::vector<T> exchange(std::string const& what, T const& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    Meeting& meeting = m_waiting[static_cast<std::size_t>(wave())];
    std::vector<T> all(lanes);
    meet(meeting, lanes, what, &mine, sizeof(T), all.data());
    return all;
  }

  void barrier() {
    meet(m_barrier, m_waves * lanes, "barrier", nullptr, 0, nullptr);
    Fiber& me = *m_fibers[static_cast<std::size_t>(m_current)];
    ++me.epoch;
    me.ordinal[0] = me.ordinal[1] = 0;
  }

  // Scratch memory: addresses are offsets, of which none may lie outside.
  void* scratch() { return m_scratch.data(); }
  unsigned char* at(bool store, std::uint32_t address, int bytes) {
    if (address % static_cast<unsigned>(bytes) != 0)
      throw std::runtime_error("a misaligned access to scratch");
    if (address + static_cast<unsigned>(bytes) > m_scratch.size() - 64)
      throw std::runtime_error("an access past the end of scratch");
    Fiber& me = *m_fibers[static_cast<std::size_t>(m_current)];
    if (m_log)
      m_accesses.push_back({store, wave(), lane(), me.epoch, me.ordinal[store ? 1 : 0]++, address, bytes});
    return m_scratch.data() + address;
  }

  void log_accesses() { m_log = true; }
  [[nodiscard]] std::vector<Access> const& accesses() const { return m_accesses; }

 private:
  struct Meeting {
    int arrived = 0;
    std::string what;
    std::vector<unsigned char> values;
    std::shared_ptr<std::vector<unsigned char>> result;
  };

  struct Fiber {
    ucontext_t context{};
    std::vector<char> stack = std::vector<char>(256 << 10);
    bool done = false;
    Meeting* blocked_on = nullptr;
    std::shared_ptr<std::vector<unsigned char>> result;
    int epoch = 0;
    int ordinal[2] = {0, 0};
  };

  static void enter() {
    Team& team = *s_running;
    try {
      (*team.m_body)();
    } catch (...) {
      team.m_error = std::current_exception();
    }
    team.m_fibers[static_cast<std::size_t>(team.m_current)]->done = true;
  }

  void meet(Meeting& meeting, int count, std::string const& what, void const* mine, std::size_t size,
            void* all) {
    std::size_t const me = static_cast<std::size_t>(m_current);
    if (meeting.arrived == 0) {
      meeting.what = what;
      meeting.values.assign(size * static_cast<std::size_t>(count), 0);
    }
    if (meeting.what != what) throw std::runtime_error("lanes part: " + meeting.what + " and " + what);
    if (size > 0)
      std::memcpy(meeting.values.data() + me % static_cast<std::size_t>(count) * size, mine, size);
    if (++meeting.arrived < count) {
      m_fibers[me]->blocked_on = &meeting;
      swapcontext(&m_fibers[me]->context, &m_scheduler);
    } else {
      auto const result = std::make_shared<std::vector<unsigned char>>(std::move(meeting.values));
      meeting.arrived = 0;
      for (auto const& fiber : m_fibers) {
        if (fiber->blocked_on != &meeting) continue;
        fiber->blocked_on = nullptr;
        fiber->result = result;
      }
      m_fibers[me]->result = result;
    }
    if (size > 0) std::memcpy(all, m_fibers[me]->result->data(), size * static_cast<std::size_t>(count));
  }

  static inline Team* s_running = nullptr;
  int m_waves;
  std::vector<unsigned char> m_scratch;
  std::function<void()> const* m_body = nullptr;
  std::vector<std::unique_ptr<Fiber>> m_fibers;
  std::vector<Meeting> m_waiting;
  Meeting m_barrier;
  ucontext_t m_scheduler{};
  int m_current = 0;
  std::exception_ptr m_error;
  bool m_log = false;
  std::vector<Access> m_accesses;
};

/// In the place of engines::GcnWave. Arch says what its products are: bf16_1k, and the layouts.
template <class Arch>
struct Wave {
  static constexpr int lanes = 64;
  static constexpr bool bf16_1k = Arch::bf16_1k;

  struct Acc {
    float e[16];
    float& operator[](int i) { return e[i]; }
    float operator[](int i) const { return e[i]; }
  };

  static int lane() { return Team::running().lane(); }
  static int uniform(int value) {
    std::vector<int> const all = Team::running().exchange("readfirstlane", value);
    for (int const other : all) {
      if (other != all[0]) throw std::runtime_error("a number that is not the same in all lanes");
    }
    return all[0];
  }
  /// The first lane's, of words that may differ: padding.
  static int first_lane(int value) { return Team::running().exchange("readfirstlane", value)[0]; }
  static int again(int value) { return value; }
  template <class T>
  static T const& read_again(T const& object) {
    return object;
  }
  static bool any(bool value) {
    for (char const other : Team::running().exchange("ballot", static_cast<char>(value))) {
      if (other != 0) return true;
    }
    return false;
  }
  static float from_other_half(float value) {
    return Team::running().exchange("bpermute", value)[static_cast<std::size_t>(lane() ^ 32)];
  }

  template <class T, int Words>
  static void product(char const* name, Instruction const& instruction, Acc& d,
                      std::uint32_t const (&a)[Words], std::uint32_t const (&b)[Words]) {
    struct Operands {
      std::uint32_t a[Words], b[Words];
    };
    Operands mine;
    std::memcpy(mine.a, a, sizeof(mine.a));
    std::memcpy(mine.b, b, sizeof(mine.b));
    std::vector<Operands> const all = Team::running().exchange(name, mine);
    // Every lane makes the whole matrices from all registers, and takes its own elements of the product.
    float left[32][8] = {};
    float right[8][32] = {};
    auto const element = [](std::uint32_t const(&words)[Words], int e) {
      return to_float(T{static_cast<std::uint16_t>(words[e / 2] >> (16 * (e % 2)))});
    };
    for (int l = 0; l < lanes; ++l) {
      for (int e = 0; e < 2 * Words; ++e) {
        int const k = instruction.inner(l, e);
        left[instruction.a_row(l)][k] = element(all[static_cast<std::size_t>(l)].a, e);
        right[k][instruction.b_column(l)] = element(all[static_cast<std::size_t>(l)].b, e);
      }
    }
    int const column = instruction.d_column(lane());
    for (int e = 0; e < 16; ++e) {
      double sum = d[e];
      int const row = Arch::d_row(instruction, lane(), e);
      for (int k = 0; k < instruction.k; ++k) sum += static_cast<double>(left[row][k]) * right[k][column];
      d[e] = static_cast<float>(sum);
    }
  }

  static void mfma_fp16(Acc& d, std::uint32_t const (&a)[2], std::uint32_t const (&b)[2]) {
    product<half>("v_mfma_f32_32x32x8f16", Instruction{8}, d, a, b);
  }
  static void mfma_bf16_1k(Acc& d, std::uint32_t const (&a)[2], std::uint32_t const (&b)[2]) {
    product<bfloat16>("v_mfma_f32_32x32x8bf16_1k", Instruction{8}, d, a, b);
  }
  static void mfma_bf16(Acc& d, std::uint32_t a, std::uint32_t b) {
    std::uint32_t const left[1] = {a};
    std::uint32_t const right[1] = {b};
    product<bfloat16>("v_mfma_f32_32x32x4bf16", Instruction{4}, d, left, right);
  }

  static std::uint32_t shared_address(void const*) { return 0; }
  template <int Words>
  static void load_shared(std::uint32_t (&words)[Words], std::uint32_t at) {
    std::memcpy(words, Team::running().at(false, at, 4 * Words), 4 * Words);
  }
  template <int Words>
  static void store_shared(std::uint32_t at, std::uint32_t const (&words)[Words]) {
    std::memcpy(Team::running().at(true, at, 4 * Words), words, 4 * Words);
  }
  template <int Words>
  static void load_global(std::uint32_t (&words)[Words], char const* base, std::uint32_t offset) {
    if ((reinterpret_cast<std::uintptr_t>(base) + offset) % (4 * Words) != 0)
      throw std::runtime_error("a misaligned load");
    std::memcpy(words, base + offset, 4 * Words);
  }
  static std::uint32_t load_global_element(char const* from) {
    std::uint16_t element;
    std::memcpy(&element, from, 2);
    return element;
  }
  static void store_global_element(char* to, std::uint32_t element) {
    auto const bits = static_cast<std::uint16_t>(element);
    std::memcpy(to, &bits, 2);
  }
  template <int Words>
  static void store_global(char* to, std::uint32_t const (&words)[Words]) {
    std::memcpy(to, words, 4 * Words);
  }

  static float exp2(float x) { return std::exp2(x); }
  static std::uint32_t pack_fp16(float low, float high) {
    return from_float<half>(low).bits | static_cast<std::uint32_t>(from_float<half>(high).bits) << 16;
  }
};

/// What differs between the architectures.
struct Gfx908 {
  static constexpr bool gfx908 = true;
  static constexpr bool bf16_1k = false;
  static int d_row(Instruction const& instruction, int lane, int e) { return instruction.d_row(lane, e); }
};
struct Gfx90a {
  static constexpr bool gfx908 = false;
  static constexpr bool bf16_1k = true;
  static int d_row(Instruction const& instruction, int lane, int e) { return instruction.d_row(lane, e); }
};
struct Gfx942 : Gfx90a {};

/// No such machine: the rows of D are in order. An engine that is right on it has a wrong map.
struct WrongRows {
  static constexpr bool gfx908 = false;
  static constexpr bool bf16_1k = true;
  static int d_row(Instruction const&, int lane, int e) { return 16 * (lane / 32) + e; }
};

/// What the loop and the engine see of a team.
struct Member {
  Team* team = nullptr;
  int rank = 0;

  struct Scratch {
    Team* team;
    void* get_shmem_aligned(std::ptrdiff_t, std::ptrdiff_t) const { return team->scratch(); }
  };
  [[nodiscard]] int league_rank() const { return rank; }
  [[nodiscard]] int team_rank() const { return team->wave(); }
  [[nodiscard]] Scratch team_scratch(int) const { return {team}; }
  void team_barrier() const { team->barrier(); }
};

}  // namespace flashpad::emulation
