// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/document.hpp"

#include "experiment/diagnostics.hpp"
#include "experiment/source_text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>
// Not part of yaml.h in every release.
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace flashpad::yaml {

namespace {

Location place(Location const& start, YAML::Mark const& mark) {
  if (start.line == 0 || mark.is_null()) return {start.source, 0, 0};
  return {start.source, mark.line + 1, mark.column + 1};
}

/// Builds the tree from the parser's events. yaml-cpp's own Node keeps no duplicate keys, no quotes and no
/// count of what aliases expand to; the events have them all, before anything grows.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Location start, std::string hint) : m_start(std::move(start)), m_hint(std::move(hint)) {}

  Node take_root() { return std::move(m_root); }

  void OnDocumentStart(YAML::Mark const& mark) override {
    if (++m_documents == 1) return;
    // After text that it cannot read, such as a leading comma, yaml-cpp reports empty documents forever.
    if (m_root.kind == Node::Kind::nothing) fail(at(mark), "", "not valid YAML" + m_hint);
    fail(at(mark), "", "a second document starts here; allowed: one document" + m_hint);
  }
  void OnDocumentEnd() override {}

  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override {
    Node node;
    // The parser's mark is what follows the missing value, maybe lines below.
    bool const after_key = !m_open.empty() && m_open.back().key;
    node.at = after_key ? m_open.back().key->at : at(mark);
    count(1, node.at);
    add(std::move(node), anchor, 1);
  }

  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                std::string const& value) override {
    Node node;
    node.kind = Node::Kind::scalar;
    node.text = value;
    node.quoted = tag == "!";
    node.at = at(mark);
    if (!node.quoted) refuse_tag(tag, node.at);
    count(1, node.at);
    add(std::move(node), anchor, 1);
  }

  void OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) override {
    auto const known = m_anchors.find(anchor);
    if (known == m_anchors.end())
      fail(at(mark), path(), "the alias stands inside the value that it refers to");
    count(known->second.values, at(mark));
    Node node = known->second.node;
    node.at = at(mark);
    add(std::move(node), 0, known->second.values);
  }

  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::size_t values_before = 0;
    std::optional<Key> key;  ///< map only: the key whose value comes next
    std::set<std::string> seen;
  };
  struct Anchored {
    Node node;
    std::size_t values = 0;
  };

  [[nodiscard]] Location at(YAML::Mark const& mark) const { return place(m_start, mark); }

  /// The path of the value or key that comes next.
  [[nodiscard]] std::string path() const {
    std::string words;
    for (Open const& open : m_open) {
      if (open.key) words = child_path(words, open.key->name);
      if (open.node.is_sequence()) words = element_path(words, open.node.values.size());
    }
    return words;
  }

  void refuse_tag(std::string const& tag, Location const& where) const {
    if (tag.empty() || tag == "?") return;
    fail(where, path(), fmt::format("found the tag '{}'; allowed: values without a tag", printable(tag)));
  }

  void count(std::size_t values, Location const& where) {
    m_values += values;
    if (m_values <= max_values) return;
    fail(where, path(),
         fmt::format("more than {} values, aliases expanded; allowed: at most {}", max_values, max_values));
  }

  void open(Node::Kind kind, YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor) {
    Open next;
    next.node.kind = kind;
    next.node.at = at(mark);
    next.anchor = anchor;
    next.values_before = m_values;
    refuse_tag(tag, next.node.at);
    if (m_open.size() >= max_depth) {
      fail(next.node.at, path(),
           fmt::format("nested deeper than {} levels; allowed: at most {}", max_depth, max_depth));
    }
    count(1, next.node.at);
    m_open.push_back(std::move(next));
  }

  void close() {
    Open done = std::move(m_open.back());
    m_open.pop_back();
    add(std::move(done.node), done.anchor, m_values - done.values_before);
  }

  void add(Node node, YAML::anchor_t anchor, std::size_t values) {
    if (anchor != 0) m_anchors[anchor] = {node, values};
    if (m_open.empty()) {
      m_root = std::move(node);
      return;
    }
    Open& parent = m_open.back();
    if (parent.node.is_map() && !parent.key) {
      parent.key = checked_key(node, parent);
      return;
    }
    if (parent.key) {
      parent.node.keys.push_back(std::move(*parent.key));
      parent.key.reset();
    }
    parent.node.values.push_back(std::move(node));
  }

  [[nodiscard]] Key checked_key(Node const& node, Open& parent) const {
    if (!node.is_scalar())
      fail(node.at, path(), fmt::format("found {} as a key; allowed: a word", describe(node)));
    if (node.text == "<<") {
      fail(node.at, child_path(path(), "<<"),
           "merge keys are not supported; allowed: the keys themselves, written out");
    }
    if (!parent.seen.insert(node.text).second) {
      std::size_t first = 0;
      while (parent.node.keys[first].name != node.text) ++first;
      fail(node.at, child_path(path(), node.text),
           fmt::format("duplicate key, already at {}; allowed: each key once",
                       to_string(parent.node.keys[first].at)));
    }
    return {node.text, node.at};
  }

  Location m_start;
  std::string m_hint;
  Node m_root;
  int m_documents = 0;
  std::size_t m_values = 0;
  std::vector<Open> m_open;
  std::map<YAML::anchor_t, Anchored> m_anchors;
};

}  // namespace

Node const* Node::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].name == key) return &values[i];
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

Node parse_document(std::string const& text, Location const& start) {
  std::string const checked = checked_text(text, start);
  auto const last_line = std::count(checked.begin(), checked.end(), '\n') - 1;
  std::istringstream input(checked);
  // Bare braces open a map: the likely slip in a file name with {case}.
  std::string const hint =
      text.find("{case}") == std::string::npos ? "" : "; text with {case} needs quotes around it";
  TreeBuilder builder(start, hint);
  try {
    YAML::Parser parser(input);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (YAML::Exception const& error) {
    std::string const message =
        error.mark.line >= last_line ? "it ends inside a list, a map or a text in quotes" : error.msg;
    fail(place(start, error.mark), "", "not valid YAML: " + message + hint);
  }
  return builder.take_root();
}

}  // namespace flashpad::yaml
