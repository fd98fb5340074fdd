// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/case_fields.hpp"

#include <flashpad/options.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

namespace flashpad::results {

namespace {

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= name.size();) {
    std::size_t const end = std::min(name.find('_', begin), name.size());
    words.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// "n512k640" with the letters n and k: both numbers, or the first one twice.
bool numbers(std::string_view word, std::string_view first_letters, std::string_view second_letters,
             std::int64_t& first, std::int64_t& second) {
  if (!word.starts_with(first_letters)) return false;
  char const* const end = word.data() + word.size();
  auto const [stop, error] = std::from_chars(word.data() + first_letters.size(), end, first);
  if (error != std::errc{}) return false;
  second = first;
  std::string_view const rest(stop, static_cast<std::size_t>(end - stop));
  if (rest.empty()) return true;
  if (second_letters.empty() || !rest.starts_with(second_letters)) return false;
  auto const [last, wrong] = std::from_chars(rest.data() + second_letters.size(), end, second);
  return wrong == std::errc{} && last == end;
}

std::string joined(std::span<std::string const> words) { return fmt::format("{}", fmt::join(words, " ")); }

}  // namespace

std::optional<CaseFields> case_fields(std::string_view name) {
  constexpr std::size_t problem_words = 6;
  std::vector<std::string> const words = words_of(name);
  std::vector<std::string> const kernels = kernel_names();
  auto const kernel = std::find_first_of(words.begin(), words.end(), kernels.begin(), kernels.end());
  if (kernel == words.end() || kernel - words.begin() < static_cast<std::ptrdiff_t>(problem_words)) return {};

  CaseFields fields;
  Shape& shape = fields.shape;
  std::int64_t ignored = 0;
  bool const read = numbers(words[0], "b", "", shape.batch, ignored) &&
                    numbers(words[1], "h", "kv", shape.heads, shape.kv_heads) &&
                    numbers(words[2], "n", "k", shape.seq_q, shape.seq_k) &&
                    numbers(words[3], "d", "v", shape.head_dim, shape.value_dim);
  if (!read) return {};
  fields.dtype = words[4];
  fields.mask = words[5];
  fields.kernel = *kernel;
  fields.variant = joined({words.begin() + problem_words, kernel});
  fields.method = joined({kernel, words.end()});
  return fields;
}

}  // namespace flashpad::results
