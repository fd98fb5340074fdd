// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/tensor_inputs.hpp"

#include "experiment/scalars.hpp"
#include "tensor_file/npy.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <tuple>

namespace flashpad::sweep {

namespace {

using yaml::Location;
using yaml::Node;

/// One file with its sizes by name, whatever the layout.
struct Tensor {
  std::filesystem::path file;
  NpyHeader header;
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t seq = 0;
  std::int64_t dim = 0;
};

// The key by value: g++ 13 and newer suspect that the node returned lives in a string that ends with the
// call.
Node const& require_name(Node const& tensors, char const* key) {
  Node const* name = tensors.find(key);
  if (name == nullptr)
    fail(tensors.at, std::string("problem.tensors.") + key, "missing; give the .npy files of q, k and v");
  return *name;
}

Tensor read_tensor(Node const& name, std::string const& path, std::filesystem::path const& folder,
                   Layout layout) {
  Tensor tensor;
  tensor.file = folder / read_text_value(name, path);
  try {
    tensor.header = read_npy_header(tensor.file, 4);
  } catch (Error const& error) {
    fail(name.at, path, error.what());
  }
  std::vector<std::int64_t> const& shape = tensor.header.shape;
  bool const heads_first = layout == Layout::bhnd;
  tensor.batch = shape[0];
  tensor.heads = heads_first ? shape[1] : shape[2];
  tensor.seq = heads_first ? shape[2] : shape[1];
  tensor.dim = shape[3];
  return tensor;
}

/// `value` of the tensor at `name` has to be `expected` of `other`.
void require_same(Node const& name, std::string const& path, Tensor const& tensor, char const* what,
                  std::int64_t value, std::int64_t expected, char const* other, Layout layout) {
  if (value == expected) return;
  fail(name.at, path,
       fmt::format("{} has {} {} in its shape {} as {}; allowed: {}, as in {}", tensor.file.string(), what,
                   value, shape_text(tensor.header.shape), flashpad::name(layout), expected, other));
}

}  // namespace

void read_tensor_inputs(Node const& tensors, std::filesystem::path const& folder, Draft& draft) {
  require_map(tensors, "problem.tensors", {"q", "k", "v"});
  Node const& q_name = require_name(tensors, "q");
  Node const& k_name = require_name(tensors, "k");
  Node const& v_name = require_name(tensors, "v");
  Layout const layout = draft.result.layout;
  Tensor const q = read_tensor(q_name, "problem.tensors.q", folder, layout);
  Tensor const k = read_tensor(k_name, "problem.tensors.k", folder, layout);
  Tensor const v = read_tensor(v_name, "problem.tensors.v", folder, layout);

  std::string const k_path = "problem.tensors.k";
  std::string const v_path = "problem.tensors.v";
  require_same(k_name, k_path, k, "batch", k.batch, q.batch, "q", layout);
  require_same(k_name, k_path, k, "head_dim", k.dim, q.dim, "q", layout);
  require_same(v_name, v_path, v, "batch", v.batch, q.batch, "q", layout);
  require_same(v_name, v_path, v, "kv_heads", v.heads, k.heads, "k", layout);
  require_same(v_name, v_path, v, "seq_k", v.seq, k.seq, "k", layout);
  for (auto const& [name, path, tensor] :
       {std::tuple{&k_name, &k_path, &k}, std::tuple{&v_name, &v_path, &v}}) {
    if (tensor->header.dtype == q.header.dtype) continue;
    fail(name->at, *path,
         fmt::format("{} holds {}; allowed: {}, as in q", tensor->file.string(),
                     flashpad::name(tensor->header.dtype), flashpad::name(q.header.dtype)));
  }

  Shape const shape{q.batch, q.heads, k.heads, q.seq, k.seq, q.dim, v.dim};
  try {
    validate(shape, Mask::none());
  } catch (Error const& error) {
    fail(tensors.at, "problem.tensors", fmt::format("{} (layout {})", error.what(), flashpad::name(layout)));
  }
  draft.result.shape = shape;
  draft.result.dtype = q.header.dtype;
  draft.result.tensors = TensorFiles{q.file, k.file, v.file};
  draft.kv_heads = shape.kv_heads;
  draft.value_dim = shape.value_dim;
  draft.kv_heads_at = tensors.at;
}

}  // namespace flashpad::sweep
