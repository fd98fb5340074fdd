// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with a file as YAML, and what only looks wrong.
#include "experiment/document.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace flashpad::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string repeated(std::string const& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Yaml, EmptyFilesAreRefused) {
  std::string const message =
      "f.yaml:1:1: found nothing; allowed: an experiment, a map with the key problem at least";
  for (char const* text : {"", "\n\n", "# only a comment\n", "---\n", "...\n", "\xef\xbb\xbf", "null\n"}) {
    EXPECT_EQ(error_of(text), message) << text;
  }
}

TEST(Yaml, ASecondDocumentIsRefused) {
  std::string const message = "a second document starts here; allowed: one document";
  EXPECT_EQ(error_of(smallest + "---\nname: b\n"), "f.yaml:2:1: " + message);
  EXPECT_EQ(error_of(smallest + "---\n"), "f.yaml:2:1: " + message);
  EXPECT_EQ(error_of(smallest + "...\njunk\n"), "f.yaml:3:1: " + message);
  EXPECT_EQ(error_of("---\n" + smallest + "...\n"), "accepted");
}

TEST(Yaml, TextThatNeverEndsIsNotParsedForever) {
  std::string const refused = "f.yaml:1:1: not valid YAML";  // a later yaml-cpp says why
  EXPECT_THAT(error_of(", a: b"),
              AnyOf(refused, refused + ": plain value cannot start with flow indicator character"));
  EXPECT_THAT(error_of("}"), StartsWith("f.yaml:1:1: not valid YAML"));
}

TEST(Yaml, UnclosedListsMapsAndQuotesAreRefused) {
  std::string const message = "not valid YAML: it ends inside a list, a map or a text in quotes";
  EXPECT_EQ(error_of("problem: {seq: 16, head_dim: 64"), "f.yaml:2:1: " + message);
  EXPECT_EQ(error_of(smallest + "kernels: [naive\n"), "f.yaml:3:1: " + message);
  EXPECT_EQ(error_of(smallest + "name: \"x"), "f.yaml:3:1: " + message);
  EXPECT_EQ(error_of(smallest + "name: 'x\n\n"), "f.yaml:4:1: " + message);
}

TEST(Yaml, BrokenSyntaxNamesThePlace) {
  EXPECT_THAT(error_of("problem: {seq: 16, head_dim: 64}}\n"), StartsWith("f.yaml:1:33: not valid YAML: "));
  EXPECT_THAT(error_of(smallest + "name: a: b\n"), StartsWith("f.yaml:2:8: not valid YAML: "));
  EXPECT_THAT(error_of(smallest + "kernels: *unknown\n"), StartsWith("f.yaml:2:10: not valid YAML: "));
}

TEST(Yaml, TheRootIsAMap) {
  EXPECT_THAT(error_of("5\n"),
              StartsWith("f.yaml:1:1: found '5'; allowed: a map with the keys name, problem, "));
  EXPECT_THAT(error_of("- a\n"), StartsWith("f.yaml:1:1: found a list; allowed: a map with the keys "));
}

TEST(Yaml, DuplicateKeysAreRefused) {
  EXPECT_EQ(error_of("problem:\n  seq: 16\n  seq: 32\n  head_dim: 64\n"),
            "f.yaml:3:3: problem.seq: duplicate key, already at f.yaml:2:3; allowed: each key once");
  EXPECT_EQ(error_of(smallest + "name: a\n\"name\": b\n"),
            "f.yaml:3:1: name: duplicate key, already at f.yaml:2:1; allowed: each key once");
  EXPECT_EQ(error_of(smallest + "tile: [{q: 1}, {k: 1, k: 2}]\n"),
            "f.yaml:2:23: tile[1].k: duplicate key, already at f.yaml:2:17; allowed: each key once");
}

TEST(Yaml, MergeKeysAreRefusedByName) {
  EXPECT_EQ(error_of("problem: &p {seq: 16, head_dim: 64}\ntiming:\n  <<: *p\n"),
            "f.yaml:3:3: timing.<<: merge keys are not supported; allowed: the keys themselves, written out");
}

TEST(Yaml, KeysThatAreNoWordsAreRefused) {
  EXPECT_EQ(error_of(smallest + "? [a]\n: 1\n"), "f.yaml:2:3: found a list as a key; allowed: a word");
  EXPECT_EQ(error_of("problem: {, seq: 16}\n"),
            "f.yaml:1:11: problem: found nothing as a key; allowed: a word");
}

TEST(Yaml, TagsAndDirectivesAreRefused) {
  EXPECT_EQ(error_of("problem: {seq: !!int \"16\", head_dim: 64}\n"),
            "f.yaml:1:16: problem.seq: found the tag 'tag:yaml.org,2002:int'; allowed: values without a tag");
  EXPECT_EQ(error_of("%YAML 1.2\n---\n" + smallest),
            "f.yaml:1:1: found a YAML directive; allowed: a document without directives");
}

TEST(Yaml, TabsAsIndentationAreRefused) {
  std::string const message = "found a tab as indentation; allowed: spaces";
  EXPECT_EQ(error_of("problem:\n\tseq: 16\n"), "f.yaml:2:1: " + message);
  EXPECT_EQ(error_of("problem:\n  \tseq: 16\n"), "f.yaml:2:3: " + message);
  EXPECT_EQ(error_of("problem:\n  seq:\t16\n  head_dim: 64\t# a comment\n\t\n\t# another\n"), "accepted");
}

TEST(Yaml, BytesThatAreNoTextAreRefused) {
  EXPECT_EQ(error_of(smallest + "name: a\xff"), "f.yaml:2:8: found the byte 0xff; allowed: text in UTF-8");
  EXPECT_EQ(error_of(smallest + "name: \xc0\x80"), "f.yaml:2:7: found the byte 0xc0; allowed: text in UTF-8");
  EXPECT_EQ(error_of(smallest + "name: \xed\xa0\x80"),
            "f.yaml:2:7: found the byte 0xed; allowed: text in UTF-8");
  EXPECT_EQ(error_of(smallest + "name: \xe2\x82"), "f.yaml:2:7: found the byte 0xe2; allowed: text in UTF-8");
  EXPECT_EQ(error_of(std::string("\xff\xfen\0a\0", 6)),
            "f.yaml:1:1: found the byte 0xff; allowed: text in UTF-8");
  EXPECT_EQ(error_of(smallest + std::string("name: a\0b", 9)),
            "f.yaml:2:8: found the control character 0x00; allowed: text in UTF-8");
  EXPECT_EQ(error_of(smallest + "name: a\x1b[1m"),
            "f.yaml:2:8: found the control character 0x1b; allowed: text in UTF-8");
  EXPECT_EQ(parse(smallest + "name: Größe ∞ 𝛼\n").name, "Größe ∞ 𝛼");
}

TEST(Yaml, ByteOrderMarkAndAnyLineEndsLoad) {
  std::string const lines = "name: x\nproblem:\n  seq: [16, 32]\n  head_dim: 64\n";
  std::vector<std::string> const expected = case_names(parse(lines));
  ASSERT_EQ(expected.size(), 2u);
  for (std::string const ends : {"\r\n", "\r"}) {
    std::string text = "\xef\xbb\xbf";
    for (char const c : lines) text += c == '\n' ? ends : std::string(1, c);
    EXPECT_EQ(case_names(parse(text)), expected);
    EXPECT_EQ(parse(text).name, "x");
    EXPECT_THAT(error_of(text + "nmae: 1" + ends),
                StartsWith("f.yaml:5:1: nmae: unknown key; did you mean 'name'"));
  }
}

TEST(Yaml, TheByteOrderMarkTakesNoColumn) {
  EXPECT_EQ(error_of("\xef\xbb\xbf%YAML 1.2\n---\n" + smallest),
            "f.yaml:1:1: found a YAML directive; allowed: a document without directives");
  EXPECT_EQ(error_of("\xef\xbb\xbf\tname: x\n"), "f.yaml:1:1: found a tab as indentation; allowed: spaces");
}

TEST(Yaml, AliasesAreExpanded) {
  Experiment const experiment =
      parse("problem:\n  seq_q: &sizes [16, 32]\n  seq_k: *sizes\n  head_dim: 64\n");
  EXPECT_EQ(case_names(experiment),
            (std::vector<std::string>{"b1_h1_n16_d64_fp32_none_auto", "b1_h1_n16k32_d64_fp32_none_auto",
                                      "b1_h1_n32k16_d64_fp32_none_auto", "b1_h1_n32_d64_fp32_none_auto"}));
  EXPECT_EQ(error_of("problem: {seq: &n [16, 20], head_dim: *n}\n"),
            "f.yaml:1:24: problem.head_dim[1]: 20 is not supported; allowed: 16 to 256 in steps of 8")
      << "the place is where the value is written";
  EXPECT_EQ(error_of("problem: {seq: &n 20, head_dim: *n}\n"),
            "f.yaml:1:33: problem.head_dim: 20 is not supported; allowed: 16 to 256 in steps of 8");
}

TEST(Yaml, AnAliasInsideItsOwnValueIsRefused) {
  EXPECT_EQ(error_of(smallest + "kernels: &k [naive, *k]\n"),
            "f.yaml:2:21: kernels[1]: the alias stands inside the value that it refers to");
}

/// Refusing has to take no time to speak of, on any machine that runs tests: the process's time, as others
/// may have the cores.
std::string error_in_time(std::string const& text) {
  std::clock_t const start = std::clock();
  std::string const message = error_of(text);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5) << text.substr(0, 40);
  return message;
}

TEST(Yaml, AliasBombsAreRefused) {
  std::string bomb = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    std::string const before = "*a" + std::to_string(i - 1);
    bomb += "b" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before +
            repeated(", " + before, 9) + "]\n";
  }
  EXPECT_EQ(error_in_time(bomb + smallest),
            "f.yaml:5:25: b4[3]: more than 50000 values, aliases expanded; allowed: at most 50000");
}

TEST(Yaml, DeepNestingIsRefused) {
  std::string const message = "nested deeper than 16 levels; allowed: at most 16";
  for (int const depth : {17, 3000, 250000}) {
    for (std::string const open : {"[", "{a: ", "- ", "? "}) {
      EXPECT_THAT(error_in_time(repeated(open, depth)), HasSubstr(message)) << open << " x " << depth;
    }
  }
  EXPECT_THAT(error_in_time("problem: " + repeated("[", 3000) + repeated("]", 3000) + "\n"),
              StartsWith("f.yaml:1:25: problem[0][0][0]"));
  std::string indented;
  for (int i = 0; i < 1000; ++i) indented += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(error_in_time(indented), HasSubstr(message));
}

TEST(Yaml, LargeFilesAreRefused) {
  EXPECT_EQ(error_in_time(smallest + "#" + std::string(yaml::max_bytes, 'x')),
            "f.yaml: found " + std::to_string(smallest.size() + 1 + yaml::max_bytes) +
                " bytes; allowed: at most 1048576");
  EXPECT_THAT(error_in_time(smallest + "kernels: [" + repeated("a,", 500000) + "]\n"),
              HasSubstr("more than 50000 values, aliases expanded; allowed: at most 50000"));
  EXPECT_THAT(error_in_time(smallest + std::string(1000, 'k') + ": 1\n"),
              HasSubstr("kkk...: unknown key; allowed: name"));
  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(error_in_time(smallest + keys), StartsWith("f.yaml:2:1: k0: unknown key"));
}

TEST(Yaml, SweepsThatExpandPastTheLimitAreRefused) {
  std::string ten = "[16";
  for (int i = 17; i < 26; ++i) ten += ", " + std::to_string(i);
  ten += "]";
  std::string const sweep =
      "name: x\nproblem: {seq: " + ten + ", batch: " + ten + ", seed: " + ten + ", head_dim: 64, heads: ";
  EXPECT_EQ(parse(sweep + ten + "}\n").cases.size(), 10000u);
  EXPECT_EQ(error_in_time(sweep + ten + "}\nkernels: [naive, fused]\n"),
            "f.yaml:2:1: found a sweep of 10 problem.seq x 10 problem.batch x 10 problem.seed x 10 "
            "problem.heads x 2 "
            "kernels cases; allowed: at most 10000");
  std::string seeds = "0";
  for (int i = 1; i <= 10000; ++i) seeds += "," + std::to_string(i);
  EXPECT_EQ(error_in_time("problem: {seq: 16, head_dim: 64, seed: [" + seeds + "]}\n"),
            "f.yaml:1:40: problem.seed: found a list of 10001 values; allowed: at most 10000");
}

TEST(Yaml, MessagesAreOneShortLine) {
  std::string const message = error_of(smallest + "name: \"" + repeated("\\n\xc3\xa9", 5000) + "\"\n");
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_LT(message.size(), 300u);
}

}  // namespace
}  // namespace flashpad::test
