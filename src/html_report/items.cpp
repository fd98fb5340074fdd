// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/items.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace flashpad::html_report {

namespace {

using results::Entry;

// What sets one family apart from another, in the order of a title.
enum Part : std::size_t {
  machine,
  threads,
  dtype,
  dimension,
  mask,
  queries,
  groups,
  layout,
  variant,
  batch,
  parts
};
using Parts = std::array<std::string, parts>;

Parts parts_of(Entry const& entry) {
  Row const& row = entry.row;
  Shape const& shape = row.shape;
  Parts text;
  text[machine] = entry.machine;
  if (entry.threads > 0)
    text[threads] = fmt::format("{} thread{}", entry.threads, entry.threads == 1 ? "" : "s");
  text[dtype] = row.dtype;
  if (shape.head_dim > 0) text[dimension] = fmt::format("d {}", shape.head_dim);
  if (shape.value_dim != shape.head_dim) text[dimension] += fmt::format(", dv {}", shape.value_dim);
  text[mask] = row.mask == "none" ? "full" : row.mask;
  if (shape.seq_q != shape.seq_k)
    text[queries] = fmt::format("{} quer{}", shape.seq_q, shape.seq_q == 1 ? "y" : "ies");
  if (shape.kv_heads > 0 && shape.heads > shape.kv_heads)
    text[groups] = fmt::format("{} query heads a key head", shape.heads / shape.kv_heads);
  if (row.layout != "bhnd") text[layout] = row.layout;
  text[variant] = entry.variant;
  return text;
}

std::string key_of(Parts const& text) { return fmt::format("{}", fmt::join(text, "\n")); }

std::string problem_of(Entry const& entry, Parts const& family) {
  Shape const& s = entry.row.shape;
  return fmt::format("{}\n{} {} {} {} {}", key_of(family), s.batch, s.heads, s.kv_heads, s.seq_q, s.seq_k);
}

// Items whose label is not the only one of its kind in their problem.
template <class Rename>
void tell_apart(std::vector<Item>& items, Rename const& rename) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < items.size(); ++i) groups[{items[i].problem, items[i].label}].push_back(i);
  std::set<std::string> twice;
  for (auto const& [key, members] : groups) {
    if (members.size() > 1) twice.insert(key.second);
  }
  for (Item& item : items) {
    if (twice.count(item.label) > 0) item.label = rename(item);
  }
}

// Without folder and ending, unless that makes two the same.
std::vector<std::string> names_of(std::vector<results::ResultFile> const& files) {
  std::vector<std::string> names;
  for (results::ResultFile const& file : files) names.push_back(file.path.stem().string());
  std::set<std::string> const distinct(names.begin(), names.end());
  if (distinct.size() == names.size()) return names;
  names.clear();
  for (results::ResultFile const& file : files) names.push_back(file.path.string());
  return names;
}

void name_contenders(std::vector<Item>& items, std::vector<results::ResultFile> const& files) {
  for (Item& item : items) item.label = item.entry->contender.empty() ? "unnamed" : item.entry->contender;
  tell_apart(items,
             [](Item const& item) { return item.entry->method.empty() ? item.label : item.entry->method; });
  if (files.size() > 1) {
    std::vector<std::string> const names = names_of(files);
    tell_apart(items, [&](Item const& item) { return fmt::format("{} ({})", item.label, names[item.file]); });
  }
  // What one file has of one problem twice: by what is unique in it.
  tell_apart(items,
             [](Item const& item) { return fmt::format("{}: {}", item.label, item.data().case_name); });
}

bool starts(std::string const& label, std::string_view word) { return label.starts_with(word); }

// A kernel has one colour in all reports, so that two pages can be laid side by side.
int usual_colour(std::string const& label) {
  if (label.find("naive-vendor") != std::string::npos) return 3;
  if (starts(label, "naive")) return 1;
  if (starts(label, "fused") || starts(label, "flashpad")) return 0;
  if (starts(label, "hopper")) return 2;
  if (starts(label, "stats")) return 4;
  return -1;
}

// Each label gets a pair of colour and shape of its own, as long as there are some; colours repeat last.
class Styles {
 public:
  explicit Styles(std::vector<Item> const& items) {
    for (Item const& item : items) add(item.label, usual_colour(item.label));
    for (Item const& item : items) add(item.label, free_colour());
  }
  [[nodiscard]] Style of(std::string const& label) const { return m_styles.at(label); }

 private:
  void add(std::string const& label, int colour) {
    if (colour < 0 || m_styles.count(label) > 0) return;
    Style style{colour, colour % Style::shapes};
    for (int turn = 0; turn < Style::shapes && m_taken.count({colour, style.shape}) > 0; ++turn)
      style.shape = (style.shape + 1) % Style::shapes;
    m_taken.emplace(colour, style.shape);
    m_styles.emplace(label, style);
  }
  [[nodiscard]] int free_colour() const {
    std::array<int, Style::colours> uses{};
    for (auto const& [colour, shape] : m_taken) ++uses[static_cast<std::size_t>(colour)];
    return static_cast<int>(std::min_element(uses.begin(), uses.end()) - uses.begin());
  }

  std::map<std::string, Style> m_styles;
  std::set<std::pair<int, int>> m_taken;
};

// A line of a plot has one point at each length; where it would have more, the batch or the heads differ, and
// tell that family's lines apart. Another family may vary its batch with the length, as the peers' scripts
// do.
std::set<std::string> crowded_families(std::vector<Item> const& items) {
  std::map<std::string, std::string> seen;
  std::set<std::string> crowded;
  for (Item const& item : items) {
    std::string const point = fmt::format("{}\n{}\n{}", item.family, item.label, item.data().shape.seq_k);
    auto const [found, is_new] = seen.emplace(point, item.problem);
    if (!is_new && found->second != item.problem) crowded.insert(item.family);
  }
  return crowded;
}

void name_families(std::vector<Item>& items) {
  std::vector<Parts> all;
  for (Item const& item : items) all.push_back(parts_of(*item.entry));
  std::set<std::string> const crowded = crowded_families(items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (crowded.count(items[i].family) == 0) continue;
    all[i][batch] = fmt::format("b {}, h {}", items[i].data().shape.batch, items[i].data().shape.heads);
  }
  std::array<bool, parts> shown{};
  shown[dtype] = shown[dimension] = shown[mask] = true;
  for (std::size_t p = 0; p < parts; ++p) {
    for (Parts const& text : all) shown[p] = shown[p] || text[p] != all.front()[p];
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].family = key_of(all[i]);
    std::vector<std::string> words;
    for (std::size_t p = 0; p < parts; ++p) {
      if (shown[p] && !all[i][p].empty()) words.push_back(all[i][p]);
    }
    items[i].title = words.empty() ? "all" : fmt::format("{}", fmt::join(words, " · "));
  }
}

}  // namespace

bool Item::counts() const {
  return data().status == Status::ok && data().verified != false && data().median_s && *data().median_s > 0;
}

std::vector<Item> items_of(std::vector<results::ResultFile> const& files) {
  std::vector<Item> items;
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (Entry const& entry : files[f].entries) {
      Item item;
      item.entry = &entry;
      item.file = f;
      item.row = items.size();
      Parts const text = parts_of(entry);
      item.family = key_of(text);
      item.problem = problem_of(entry, text);
      items.push_back(std::move(item));
    }
  }
  name_contenders(items, files);
  Styles const styles(items);
  for (Item& item : items) item.style = styles.of(item.label);
  name_families(items);
  return items;
}

std::vector<Item> contenders_of(std::vector<Item> const& items) {
  std::vector<Item> found;
  for (Item const& item : items) {
    bool const known =
        std::any_of(found.begin(), found.end(), [&](Item const& other) { return other.label == item.label; });
    if (!known) found.push_back(item);
  }
  return found;
}

}  // namespace flashpad::html_report
