// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/tuning.hpp"

#include <Kokkos_Core.hpp>

namespace flashpad::kokkos_ext {

#ifdef KOKKOS_ENABLE_TUNING

namespace tools = Kokkos::Tools::Experimental;

bool ToolSpace::available() { return tools::have_tuning_tool(); }

ToolSpace::ToolSpace(std::array<std::string, axes> const& names,
                     std::array<std::vector<std::int64_t>, axes> const& lists, std::string const& key)
    : m_key(key) {
  tools::VariableInfo input{};
  input.type = tools::ValueType::kokkos_value_string;
  input.category = tools::StatisticalCategory::kokkos_value_categorical;
  input.valueQuantity = tools::CandidateValueType::kokkos_value_unbounded;
  m_input = tools::declare_input_type("flashpad.key", input);
  for (std::size_t i = 0; i < axes; ++i) {
    std::vector<std::int64_t> values = lists[i];  // the set is copied, and asks for an array that may change
    tools::VariableInfo output{};
    output.type = tools::ValueType::kokkos_value_int64;
    output.category = tools::StatisticalCategory::kokkos_value_ordinal;
    output.valueQuantity = tools::CandidateValueType::kokkos_value_set;
    output.candidates = tools::make_candidate_set(values.size(), values.data());
    m_outputs[i] = tools::declare_output_type("flashpad." + names[i], output);
  }
}

ToolSpace::Point ToolSpace::ask(Point const& ours) {
  m_context = tools::get_new_context_id();
  tools::begin_context(m_context);
  tools::VariableValue input = tools::make_variable_value(m_input, m_key.substr(0, 63));
  tools::set_input_values(m_context, 1, &input);
  std::array<tools::VariableValue, axes> values;
  for (std::size_t i = 0; i < axes; ++i) values[i] = tools::make_variable_value(m_outputs[i], ours[i]);
  tools::request_output_values(m_context, axes, values.data());
  Point point;
  for (std::size_t i = 0; i < axes; ++i) point[i] = values[i].value.int_value;
  return point;
}

void ToolSpace::told() { tools::end_context(m_context); }

#else

bool ToolSpace::available() { return false; }
ToolSpace::ToolSpace(std::array<std::string, axes> const&, std::array<std::vector<std::int64_t>, axes> const&,
                     std::string const&) {}
ToolSpace::Point ToolSpace::ask(Point const& ours) { return ours; }
void ToolSpace::told() {}

#endif

}  // namespace flashpad::kokkos_ext
