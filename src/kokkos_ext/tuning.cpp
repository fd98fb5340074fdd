// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/tuning.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace flashpad::kokkos_ext {

#ifdef KOKKOS_ENABLE_TUNING

namespace tools = Kokkos::Tools::Experimental;

namespace {

// Kokkos copies 63 bytes, and ends a text only where it is shorter.
tools::VariableValue text_value(std::size_t id, std::string const& text) {
  return tools::make_variable_value(id, text.substr(0, KOKKOS_TOOLS_TUNING_STRING_LENGTH - 2));
}

}  // namespace

bool ToolSpace::available() { return tools::have_tuning_tool(); }

ToolSpace::ToolSpace(std::size_t count, std::string method, std::string problem)
    : m_count(count), m_method(std::move(method)), m_problem(std::move(problem)) {
  tools::VariableInfo text{};
  text.type = tools::ValueType::kokkos_value_string;
  text.category = tools::StatisticalCategory::kokkos_value_categorical;
  text.valueQuantity = tools::CandidateValueType::kokkos_value_unbounded;
  m_method_input = tools::declare_input_type("flashpad.method", text);
  m_problem_input = tools::declare_input_type("flashpad.problem", text);

  tools::VariableInfo seconds{};
  seconds.type = tools::ValueType::kokkos_value_double;
  seconds.category = tools::StatisticalCategory::kokkos_value_ratio;
  seconds.valueQuantity = tools::CandidateValueType::kokkos_value_unbounded;
  m_seconds_input = tools::declare_input_type("flashpad.seconds", seconds);

  // Kokkos and the tool keep the pointer to the values, for as long as the process lives.
  static std::deque<std::vector<std::int64_t>> kept;
  std::vector<std::int64_t>& values = kept.emplace_back(count);
  std::iota(values.begin(), values.end(), 0);
  tools::VariableInfo index{};
  index.type = tools::ValueType::kokkos_value_int64;
  index.category = tools::StatisticalCategory::kokkos_value_ordinal;
  index.valueQuantity = tools::CandidateValueType::kokkos_value_set;
  index.candidates = tools::make_candidate_set(values.size(), values.data());
  m_output = tools::declare_output_type("flashpad.configuration", index);
}

std::size_t ToolSpace::ask(std::size_t ours) {
  m_context = tools::get_new_context_id();
  tools::begin_context(m_context);
  tools::declare_optimization_goal(m_context, {m_seconds_input, Kokkos_Tools_Minimize});
  std::array inputs = {text_value(m_method_input, m_method), text_value(m_problem_input, m_problem)};
  tools::set_input_values(m_context, inputs.size(), inputs.data());
  tools::VariableValue value = tools::make_variable_value(m_output, static_cast<std::int64_t>(ours));
  tools::request_output_values(m_context, 1, &value);
  std::int64_t const index = value.value.int_value;
  return index >= 0 && index < static_cast<std::int64_t>(m_count) ? static_cast<std::size_t>(index) : ours;
}

void ToolSpace::told(double seconds) {
  tools::VariableValue value =
      tools::make_variable_value(m_seconds_input, std::min(seconds, std::numeric_limits<double>::max()));
  tools::set_input_values(m_context, 1, &value);
  tools::end_context(m_context);
}

#else

bool ToolSpace::available() { return false; }
ToolSpace::ToolSpace(std::size_t count, std::string method, std::string problem)
    : m_count(count), m_method(std::move(method)), m_problem(std::move(problem)) {}
std::size_t ToolSpace::ask(std::size_t ours) { return ours; }
void ToolSpace::told(double) {}

#endif

}  // namespace flashpad::kokkos_ext
