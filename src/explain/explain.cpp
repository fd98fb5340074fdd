// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "explain/explain.hpp"

#include "model/fusing.hpp"
#include "model/lengths.hpp"
#include "report/table.hpp"
#include "tuning/space.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace flashpad::explain {

namespace {

constexpr double mib = 1024.0 * 1024;
constexpr double gib = 1024 * mib;

std::string grouped(std::int64_t n) {
  std::string digits = fmt::format("{}", n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

/// The whole of the module's closed forms holds: equal heads, lengths and widths, and no mask.
bool is_textbook(model::Work const& work) {
  Shape const& s = work.shape;
  return s.heads == s.kv_heads && s.seq_q == s.seq_k && s.head_dim == s.value_dim && work.mask.is_none();
}

std::string reaches(Kernel kernel, model::Work const& work, double ridge) {
  auto const n = model::compute_bound_from(kernel, work, ridge);
  return n ? fmt::format("from N = {} on", grouped(*n)) : std::string("from no N on");
}

std::string ridge_lines(Subject const& subject, Machine const& machine) {
  constexpr double modules_ridge = 200;
  model::Work const& work = subject.work;
  auto const line = [&](std::string const& source, double ridge) {
    return fmt::format("  ridge {:.3g} ({}):\n    compute limits fused {}, unfused {}\n", ridge, source,
                       reaches(Kernel::fused, work, ridge), reaches(Kernel::naive_vendor, work, ridge));
  };
  std::string text;
  if (machine.ridge > 0) {
    text += line(machine.ridge_source, machine.ridge);
  } else {
    text += fmt::format("  the ridge of this machine is not known: {}\n", machine.ridge_source);
  }
  return text + line("1000 TFLOP/s over 5 TB/s, a GPU's order of magnitude", modules_ridge);
}

std::string budget_line(int warps, int lanes, double bytes) {
  return fmt::format("    {} x {} lanes: {:.0f} registers a lane\n", warps, lanes,
                     model::registers_per_lane(bytes, warps, lanes));
}

std::string tile_lines(TileInUse const& one, model::Work const& work) {
  if (!one.refusal.empty()) return fmt::format("    {}: refused: {}\n", one.kernel, one.refusal);
  std::string text =
      fmt::format("    {} {}x{}, team of {} ({}): ", one.kernel, one.tile.q, one.tile.k, one.team, one.from);
  if (!one.accumulates) return text + "no accumulator\n";
  double const bytes = model::accumulator_bytes(one.tile.q, work.shape.value_dim, work.dtype);
  text += fmt::format("{} x {} is {}", one.tile.q, work.shape.value_dim, report::format_bytes(bytes));
  if (!one.on_device) return text + ", in this processor's caches\n";
  return text + '\n' + budget_line(one.team, 64, bytes) + budget_line(one.team, 32, bytes);
}

// "-" where nothing is moved or computed.
std::string quotient(double numerator, double denominator) {
  return denominator > 0 ? report::format_fixed(numerator / denominator, 1) : "-";
}

}  // namespace

std::string traffic(Subject const& subject, Machine const& machine) {
  model::Work const& work = subject.work;
  double const score = model::score_bytes(work.dtype);
  bool const widened = score > size_of(work.dtype);
  std::string text = fmt::format("Traffic: {}\n", subject.label);
  text += "  unfused: S = Q K^T is written and read, P = softmax(S) is written and read; fused: neither is\n";
  text += fmt::format("  {:>9}  {:>11}  {:>11}  {:>11}  {:>7}  {:>9}  {:>9}", "N", "Q, K, V, O",
                      "S, one head", "unfused", "ratio", "FLOP/byte", "fused");
  if (widened) text += fmt::format("  {:>11}  {:>7}", "naive here", "ratio");
  text += '\n';
  for (std::int64_t const n : subject.lengths) {
    model::Work const here = model::at_length(work, n);
    double const fused = model::bytes_model(Kernel::fused, here);
    double const unfused = model::bytes_model(Kernel::naive_vendor, here);
    double const flops = model::flops(Kernel::fused, here);
    double const pairs = static_cast<double>(here.shape.seq_q) * static_cast<double>(n);
    text += fmt::format("  {:>9}  {:>11}  {:>11}  {:>11}  {:>7}  {:>9}  {:>9}", grouped(n),
                        report::format_bytes(fused), report::format_bytes(size_of(work.dtype) * pairs),
                        report::format_bytes(unfused), quotient(unfused, fused), quotient(flops, unfused),
                        quotient(flops, fused));
    if (widened) {
      double const naive = model::bytes_model(Kernel::naive, here);
      text += fmt::format("  {:>11}  {:>7}", report::format_bytes(naive), quotient(naive, fused));
    }
    text += '\n';
  }
  if (work.shape.batch == 0 || work.shape.heads == 0)
    return text + "  No head: nothing to move or compute.\n";
  if (is_textbook(work)) {
    std::int64_t const d = work.shape.head_dim;
    text += fmt::format(
        "  ratio = 1 + N/d: no element width is in it, so a narrower type makes both sides smaller and "
        "leaves the\n"
        "  case for fusing as it is. FLOP/byte of unfused = N d / (2 (N + d)) x 2/e comes to d/e = {:.0f} "
        "and no "
        "further;\n  fused = N/e grows with N (e = {} bytes, d = {}).\n",
        static_cast<double>(d) / size_of(work.dtype), size_of(work.dtype), d);
  } else {
    text += fmt::format("  FLOP/byte of unfused comes to {:.3g} as N grows.\n",
                        model::intensity_limit(Kernel::naive_vendor, work).value_or(0));
  }
  if (widened) {
    text += fmt::format(
        "  naive here keeps S and P in {} bytes, so its ratio is larger than the closed form's.\n",
        static_cast<int>(score));
  }
  return text + ridge_lines(subject, machine);
}

std::string on_chip(model::Work const& work, std::vector<TileInUse> const& tiles) {
  std::string text = "On chip: the accumulator, tile rows x dv in the type of arithmetic, for a team of 4\n";
  for (auto const& [rows, dv] : {std::pair{64, 64}, {128, 128}}) {
    double const bytes = model::accumulator_bytes(rows, dv, work.dtype);
    text += fmt::format("  {:>3} x {:<3} {:>9}\n", rows, dv, report::format_bytes(bytes));
    text += budget_line(4, 64, bytes) + budget_line(4, 32, bytes);
  }
  text +=
      "  A wavefront of 64 (AMD) shares it between twice the lanes of a warp of 32 (NVIDIA): the same "
      "team is 256\n"
      "  lanes there and 128 here. Q, the tile of S and what is in flight come on top; what is over the "
      "budget\n"
      "  spills to memory, which is the traffic that fusing saves. `flashpad tune` counts both before it "
      "runs.\n";
  if (!tiles.empty()) text += "  Tiles of this experiment:\n";
  for (TileInUse const& one : tiles) text += tile_lines(one, work);
  return text;
}

std::string thresholds(model::Work const& work, Machine const& machine) {
  double const element = size_of(work.dtype);
  std::string text =
      fmt::format("Thresholds: S of one head, {} bytes an element, passes\n", size_of(work.dtype));
  auto const line = [&](std::string const& what, double bytes) {
    text += fmt::format("  {:>11} ({}) at N = {}\n", report::format_bytes(bytes), what,
                        grouped(model::length_past(bytes, element)));
  };
  line("a large last-level cache", 256 * mib);
  line("a large GPU's memory", 192 * gib);
  if (machine.cache_bytes > 0) line("this machine's last-level cache", machine.cache_bytes);
  if (machine.memory_bytes > 0) line("this machine's free memory", machine.memory_bytes);
  return text;
}

std::string search_space() {
  // `flashpad tune` has these lists for the kernel of the first lab.
  auto const size = [](TuneSpace const& space) {
    return space.q.size() * space.k.size() * space.team.size() * space.stages.size();
  };
  TuneSpace const cuda = tuning::default_space(Kernel::stats, "mma", true);
  TuneSpace const hip = tuning::default_space(Kernel::stats, "mfma", true);
  return fmt::format(
      "Search space of the first lab: {} query tiles x {} key tiles x {} team sizes x {} stages = {} where "
      "copies run\n"
      "  ahead by a number of stages to choose (CUDA); where that is pinned to 1 (HIP) it is {}. Each is "
      "made and timed\n"
      "  before the first result: {} times the cost of one, which `flashpad tune` pays once and keeps.\n",
      cuda.q.size(), cuda.k.size(), cuda.team.size(), cuda.stages.size(), size(cuda), size(hip), size(cuda));
}

std::string masking() {
  return "Masking: a hidden score is -infinity here, and the module's -1e9 is not used\n"
         "  -1e9 is a number that a score can be below: with logits of -1e30, which float32 holds, hidden "
         "keys win; and\n"
         "  a row that sees no key becomes a mean of V, with a log-sum-exp that looks like one. Raw "
         "-infinity is NaN in\n"
         "  exp(old maximum - new maximum) for a row that has seen no key yet: behind a window, or where "
         "there are more\n"
         "  queries than keys. A guard costs one comparison a row and tile: while the maximum is -infinity "
         "the row\n"
         "  takes 0 as its reference, so that exp(-infinity) = 0 counts nothing. `make run-exercises` shows "
         "all three.\n";
}

}  // namespace flashpad::explain
