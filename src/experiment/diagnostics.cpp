// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/diagnostics.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace flashpad::yaml {

namespace {

/// Edits that turn one word into the other: a letter inserted, dropped or replaced, two neighbours swapped.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) edits[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) edits[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t const replaced = edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      edits[i][j] = std::min({replaced, edits[i - 1][j] + 1, edits[i][j - 1] + 1});
      bool const swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string to_string(Location const& location) {
  if (location.line == 0) return *location.source;
  return fmt::format("{}:{}:{}", *location.source, location.line, location.column);
}

void fail(Location const& at, std::string_view path, std::string_view message) {
  if (path.empty()) throw Error(fmt::format("{}: {}", to_string(at), message));
  throw Error(fmt::format("{}: {}: {}", to_string(at), path, message));
}

void fail_found(Node const& node, std::string_view path, std::string_view allowed) {
  fail(node.at, path, fmt::format("found {}; allowed: {}", describe(node), allowed));
}

std::string describe(Node const& node) {
  switch (node.kind) {
    case Node::Kind::nothing: return "nothing";
    case Node::Kind::sequence: return "a list";
    case Node::Kind::map: return "a map";
    case Node::Kind::scalar: break;
  }
  std::string const text = printable(node.text);
  return node.quoted ? fmt::format("the text \"{}\"", text) : fmt::format("'{}'", text);
}

std::string printable(std::string_view text, std::size_t max_shown) {
  std::string shown;
  for (char const c : text.substr(0, max_shown)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  if (text.size() <= max_shown) return shown;
  // Do not cut a character of several bytes in two.
  if ((static_cast<unsigned char>(text[max_shown]) & 0xc0U) == 0x80U) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xc0U) == 0x80U) shown.pop_back();
    if (!shown.empty()) shown.pop_back();
  }
  return shown + "...";
}

std::string join(std::vector<std::string> const& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string suggestion(std::string_view word, std::vector<std::string> const& candidates) {
  // Distances of very long words say nothing and would take long to compute.
  if (word.size() > 64) return "";
  std::string_view nearest;
  std::size_t best = 2 + word.size() / 4;
  for (std::string const& candidate : candidates) {
    std::size_t const distance = edit_distance(word, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'", nearest);
}

std::string child_path(std::string_view parent, std::string_view key) {
  return parent.empty() ? printable(key) : fmt::format("{}.{}", parent, printable(key));
}

std::string element_path(std::string_view parent, std::size_t index) {
  return fmt::format("{}[{}]", parent, index);
}

void require_map(Node const& node, std::string_view path, std::vector<std::string> const& known_keys) {
  if (!node.is_map()) fail_found(node, path, "a map with the keys " + join(known_keys));
  for (Key const& key : node.keys) {
    if (std::find(known_keys.begin(), known_keys.end(), key.name) != known_keys.end()) continue;
    fail(key.at, child_path(path, key.name),
         fmt::format("unknown key{}; allowed: {}", suggestion(key.name, known_keys), join(known_keys)));
  }
}

}  // namespace flashpad::yaml
