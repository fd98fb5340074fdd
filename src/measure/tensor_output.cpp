// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/tensor_output.hpp"

#include "measure/elements.hpp"
#include "tensor_file/npy.hpp"

#include <string>

namespace flashpad::measure {

namespace {

void write_o(std::filesystem::path const& file, Case const& one, Outputs const& outputs) {
  Extents const e = extents_of_o(one.shape);
  std::vector<std::int64_t> const shape =
      one.layout == Layout::bhnd ? std::vector<std::int64_t>{e.batch, e.heads, e.rows, e.columns}
                                 : std::vector<std::int64_t>{e.batch, e.rows, e.heads, e.columns};
  if (one.dtype != DType::bf16) return write_npy(file, shape, one.dtype, outputs.o);
  std::vector<std::byte> wide(outputs.o.size() * 2);
  for (std::int64_t i = 0; i < e.count(); ++i) {
    store(wide.data(), DType::fp32, i, load(outputs.o.data(), DType::bf16, i));
  }
  write_npy(file, shape, DType::fp32, wide);
}

void write_lse(std::filesystem::path const& file, Case const& one, Outputs const& outputs) {
  DType const type = one.dtype == DType::fp64 ? DType::fp64 : DType::fp32;
  std::vector<std::byte> data(outputs.lse.size() * static_cast<std::size_t>(size_of(type)));
  for (std::size_t i = 0; i < outputs.lse.size(); ++i) {
    store(data.data(), type, static_cast<std::int64_t>(i), outputs.lse[i]);
  }
  write_npy(file, {one.shape.batch, one.shape.heads, one.shape.seq_q}, type, data);
}

}  // namespace

std::filesystem::path tensor_path(std::filesystem::path const& file, Case const& one) {
  std::string const placeholder = "{case}";
  std::string text = file.string();
  for (std::size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + one.name.size())) {
    text.replace(at, placeholder.size(), one.name);
  }
  return text;
}

void write_tensors(Output const& output, Case const& one, Outputs const& outputs) {
  if (!output.o.empty() && one.kernel != Kernel::stats) write_o(tensor_path(output.o, one), one, outputs);
  if (!output.lse.empty()) write_lse(tensor_path(output.lse, one), one, outputs);
}

}  // namespace flashpad::measure
