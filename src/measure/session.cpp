// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/session.hpp"

#include <flashpad/error.hpp>

#include "kokkos_ext/allocation.hpp"
#include "kokkos_ext/region.hpp"
#include "kokkos_ext/tools.hpp"
#include "measure/elements.hpp"
#include "measure/interrupt.hpp"
#include "measure/machine.hpp"
#include "measure/statistics.hpp"
#include "model/memory.hpp"
#include "report/symptoms.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace flashpad::measure {

namespace {

// Not all that is free is ours to take: libraries, stacks and other programs go on allocating.
constexpr double share_of_free = 0.95;

// What the scores of the naive kernels may take while more is free: as many heads at once as fit, and on a
// device enough for launches that take long next to their ends. One head may take more.
constexpr double workspace_wanted = 0x1p28;
constexpr double workspace_wanted_on_device = 0x1p31;

Row start_row(Case const& one, std::string const& backend) {
  Row row;
  row.case_name = one.name;
  row.kernel = name(one.kernel);
  row.backend = backend;
  row.dtype = name(one.dtype);
  row.shape = one.shape;
  row.mask = to_string(one.mask);
  row.layout = name(one.layout);
  return row;
}

void out_of_memory(Row& row, double needed, std::string const& why) {
  row.status = Status::oom;
  row.bytes_needed = needed;
  add_cause(row, fmt::format("needs {}, {}", report::format_bytes(needed), why));
}

// Of the library, of Kokkos or of a file: the row's, not the sweep's.
void end_row(Row& row, std::exception const& error) {
  bool const out_of_memory = kokkos_ext::is_allocation_failure(error);
  row.status = out_of_memory ? Status::oom : Status::failed;
  std::string const text = error.what();
  add_cause(row, (out_of_memory ? "memory that was free could not be allocated: " : "") +
                     text.substr(0, text.find('\n')));
}

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Without a query row no key is read: none has to be there. A user's own tensors stay as they are.
Case without_unread_keys(Case one) {
  Shape& s = one.shape;
  if (!one.tensors && (s.batch == 0 || s.heads == 0 || s.seq_q == 0)) s.seq_k = 0;
  return one;
}

// What is known of a case that may never run.
void estimate(Case const& one, Kernel kernel, Row& row) {
  if (kernel == Kernel::automatic) return;
  row.bytes_model = model::bytes_model(kernel, work_of(one));
  row.byte_ratio = model::byte_ratio(kernel, work_of(one));
}

void describe(Case const& one, Choice const& choice, Row& row) {
  row.kernel = name(choice.kernel);
  if (!choice.engine.empty()) row.engine = choice.engine;
  if (choice.tile.q > 0) row.tile = fmt::format("{}x{}", choice.tile.q, choice.tile.k);
  if (!stores_scores(choice.kernel)) row.splits = choice.splits;
  if (!choice.tile_from.empty()) row.tile_from = choice.tile_from;
  row.workspace_bytes = choice.workspace_bytes;
  estimate(one, choice.kernel, row);
  add_note(row, choice.why);
  add_note(row, choice.tile_note);
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Options options_of(Case const& one, double workspace_limit) {
  Options options;
  options.mask = one.mask;
  options.scale = one.scale;
  options.kernel = one.kernel;
  options.tile = one.tile;
  options.team_size = one.team;
  options.stages = one.stages;
  options.engine = one.engine;
  options.splits = one.splits;
  options.workspace_limit = workspace_limit;
  options.probabilities_in_input_type = one.probabilities_in_input_type;
  options.skip_hidden_tiles = one.skip_hidden_tiles;
  return options;
}

Session::Session(Settings const& settings, std::function<Backend&(std::string const&)> find_backend)
    : m_settings(settings), m_find_backend(std::move(find_backend)) {}

Row Session::measure(Case const& one) {
  kokkos_ext::Region const region(one.name);
  m_outputs.reset();
  Row row;
  auto const start = std::chrono::steady_clock::now();
  std::unique_ptr<Prepared> const prepared = prepare(one, row);
  m_spent = {row.first_call_s.value_or(0), since(start) - row.first_call_s.value_or(0), 0};
  if (!prepared) return row;
  auto const timing = std::chrono::steady_clock::now();
  try {
    time(one, *prepared, row);
  } catch (std::exception const& error) {
    end_row(row, error);
  }
  m_spent.timing = since(timing);
  if (row.status == Status::ok) m_outputs = std::move(prepared->outputs);
  return row;
}

std::unique_ptr<Prepared> Session::prepare(Case const& one, Row& row) {
  Backend& place = m_find_backend(one.backend);
  row = start_row(one, place.name());
  row.cache = name(m_settings.timing.cache);
  if (m_problem && m_problem->key != one.problem_key) m_problem.reset();
  try {
    return prepare_on(without_unread_keys(one), place, row);
  } catch (std::exception const& error) {
    end_row(row, error);
    return nullptr;
  }
}

std::unique_ptr<Prepared> Session::prepare_on(Case const& one, Backend& place, Row& row) {
  std::unique_ptr<Prepared> prepared = set_up(one, place, row);
  if (!prepared) return nullptr;
  Runner& runner = *prepared->runner;
  describe(one, runner.choice(), row);

  if (!m_problem) m_problem.emplace(Problem{one.problem_key, make_inputs(one), std::nullopt});
  Inputs const& inputs = m_problem->inputs;
  add_note(row, inputs.converted);
  runner.load(pack(inputs.q, extents_of_q(one.shape), one.dtype, one.layout),
              pack(inputs.k, extents_of_k(one.shape), one.dtype, one.layout),
              pack(inputs.v, extents_of_v(one.shape), one.dtype, one.layout));
  runner.fill_outputs_with_nan();
  auto const start = std::chrono::steady_clock::now();
  {
    kokkos_ext::Region const region("flashpad::first_call");
    runner.call(0, true);
    runner.fence();
  }
  row.first_call_s = runner.plan_seconds() + since(start);
  prepared->outputs = runner.fetch();

  row.status = Status::ok;
  if (m_settings.verify && !verify_first_call(one, *prepared, row)) return nullptr;
  row.launches = kokkos_ext::count_launches([&] {
    runner.call(0, false);
    runner.fence();
  });
  return prepared;
}

std::unique_ptr<Prepared> Session::set_up(Case const& one, Backend& place, Row& row) {
  model::Footprint need = model::footprint(one.kernel, work_of(one));
  model::Memory memory;
  memory.device = place.device_memory_free();
  if (memory.device) *memory.device *= share_of_free;
  memory.host = share_of_free * host_memory_free();
  if (m_problem)
    memory.host += 8 * need.elements / size_of(one.dtype);  // held already, and counted as needed
  std::string where = memory.device ? "free on the device" : "free";
  if (m_settings.memory_limit) {
    (memory.device ? *memory.device : memory.host) = *m_settings.memory_limit;
    where = "allowed by memory_limit";
  }
  double const room = memory.device.value_or(memory.host);

  std::int64_t const wanted = m_settings.timing.cache == Cache::cold
                                  ? model::copies_past_cache(need.elements, place.last_level_cache())
                                  : 1;
  model::Fit const fit = model::fit(need, memory, std::min(wanted, model::most_copies));
  if (!fit.fits) {
    estimate(one, one.kernel, row);
    out_of_memory(row, fit.needed, fmt::format("and {} are {}", report::format_bytes(room), where));
    return nullptr;
  }
  auto prepared = std::make_unique<Prepared>();
  prepared->backend = &place;
  prepared->copies = fit.copies;
  auto const prepare = [&](double workspace) {
    prepared->runner =
        place.prepare({one.shape, one.dtype, one.layout, options_of(one, workspace), prepared->copies});
  };
  try {
    try {
      prepare(std::max(1.0,
                       std::min(fit.workspace, memory.device ? workspace_wanted_on_device
                                                             : workspace_wanted)));  // 0 would lift the limit
    } catch (OutOfMemory const& error) {  // gives way to what the kernel cannot do without
      double const most = fit.workspace + static_cast<double>(fit.copies - 1) * need.inputs;
      if (error.bytes_needed() > most) throw;
      if (error.bytes_needed() > fit.workspace) prepared->copies = 1;
      prepare(error.bytes_needed());
    }
  } catch (OutOfMemory const& error) {
    estimate(one, one.kernel, row);
    double const needed = fit.needed - need.workspace_min + error.bytes_needed();
    out_of_memory(row, needed,
                  fmt::format("and {} are {}: {}", report::format_bytes(room), where, error.what()));
    return nullptr;
  } catch (std::exception const& error) {
    if (!kokkos_ext::is_allocation_failure(error)) throw;
    // Something else took what was free a moment ago.
    out_of_memory(row, fit.needed, "which were free and could not be allocated");
    return nullptr;
  }
  if (m_settings.timing.cache == Cache::cold && prepared->copies < wanted) {
    row.cache = name(Cache::warm);
    add_note(row,
             fmt::format("cache: warm, because {} {} of the {} copies of the inputs that pass the "
                         "last-level cache",
                         prepared->copies == model::most_copies ? "no more are made than" : "memory holds",
                         prepared->copies, wanted));
  }
  return prepared;
}

bool Session::verify_first_call(Case const& one, Prepared const& prepared, Row& row) {
  if (!m_problem->expected) {
    m_problem->expected =
        make_expected(one, m_problem->inputs, rows_to_verify(one.shape, m_settings.verify_budget));
  }
  Verdict const verdict =
      verify(one, m_problem->inputs, *m_problem->expected, prepared.outputs, prepared.runner->choice().tile);
  row.max_abs_err = verdict.max_abs_err;
  row.rel_err = verdict.rel_err;
  row.tolerance = verdict.tolerance;
  if (verdict.symptom != report::Symptom::nothing_finite) row.lse_max_err = verdict.lse_max_err;
  row.worst = verdict.worst;
  row.verified_rows = static_cast<std::int64_t>(m_problem->expected->rows.size());
  row.verified = !verdict.symptom;
  add_note(row, verdict.note);
  if (*row.verified) return true;
  row.status = Status::failed;
  add_cause(row, verdict.reason);
  return false;
}

void Session::time(Case const& one, Prepared& prepared, Row& row) {
  Runner& runner = *prepared.runner;
  runner.fill_outputs_with_nan();
  std::int64_t turn = 0;
  for (int i = 0; i < m_settings.timing.warmup; ++i) {
    stop_if_interrupted();
    runner.call(turn++ % prepared.copies, false);
    runner.fence();
  }
  std::vector<double> seconds;
  {
    kokkos_ext::Region const region("flashpad::timed_calls");
    for (int i = 0; i < m_settings.timing.repetitions; ++i) {
      stop_if_interrupted();
      seconds.push_back(runner.timed_call(turn++ % prepared.copies));
    }
  }

  // What was timed is what was verified: the same inputs give the same bits, whichever copy they come from.
  Outputs const timed = runner.fetch();
  bool const same = row.kernel == name(Kernel::stats) ? same_bits(timed.lse, prepared.outputs.lse)
                                                      : same_bits(timed.o, prepared.outputs.o);
  if (m_settings.verify && !same) {
    row.status = Status::failed;
    row.verified = false;
    add_cause(row, fmt::format("a timed call gave other bits than the verified one; likely cause: {}",
                               report::likely_cause(report::Symptom::not_reproducible)));
    return;
  }

  Summary const summary = summarise(seconds);
  row.median_s = summary.median;
  row.min_s = summary.min;
  row.spread = summary.spread;
  row.repetitions = m_settings.timing.repetitions;
  row.samples_s = std::move(seconds);
  rate(one, runner.choice(), row);
  if (m_settings.roofs) put_under_roof(one, runner.choice(), *prepared.backend, row, m_settings.memory_limit);
}

}  // namespace flashpad::measure
