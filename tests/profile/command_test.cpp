// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/command.hpp"

#include "profile/profiler.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>

namespace flashpad::profile {
namespace {

using ::testing::HasSubstr;

TEST(Command, GivesOutputErrorAndCode) {
  Ended const ended = run({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_EQ(ended.err, "err\n");
  EXPECT_EQ(run({"/bin/sh", "-c", "kill -9 $$"}).code, 128 + 9);
}

TEST(Command, KillsWhatIsNotDoneInTime) {
  EXPECT_EQ(message_of<Error>([] {
              run({"/bin/sh", "-c", "trap '' TERM; while :; do :; done"}, {}, std::chrono::milliseconds(250));
            }),
            "/bin/sh -c trap '' TERM; while :; do :; done was not done within 0.25 s and was killed");
  EXPECT_EQ(run({"/bin/sh", "-c", "exit 5"}, {}, std::chrono::minutes(1)).code, 5);
}

TEST(Command, ChangesTheEnvironment) {
  ::setenv("FLASHPAD_TEST_KEPT", "kept", 1);
  ::setenv("FLASHPAD_TEST_CHANGED", "old", 1);
  Ended const ended = run({"/bin/sh", "-c", "echo $FLASHPAD_TEST_KEPT $FLASHPAD_TEST_CHANGED"},
                          {{"FLASHPAD_TEST_CHANGED", "new"}});
  EXPECT_EQ(ended.out, "kept new\n");
}

TEST(Command, RefusesWhatCannotBeStarted) {
  EXPECT_THAT(message_of<Error>([] { run({"/no/such/program"}); }), HasSubstr("/no/such/program"));
}

TEST(Command, FindsTheDriversOwnError) {
  EXPECT_EQ((Ended{1, "", "noise\nflashpad: error: oom: needs more\nlast\n"}).reason(), "oom: needs more");
  EXPECT_EQ((Ended{1, "", "noise\nlast\n"}).reason(), "last");
  EXPECT_EQ((Ended{3, "", ""}).reason(), "ended with exit code 3 and without a word");
  EXPECT_EQ((Ended{130, "", ""}).reason(), "ended by signal 2");
}

TEST(Command, GivesAnothersWordsInOneLine) {
  EXPECT_EQ(brief("plain \xc3\xa9"), "plain \xc3\xa9");
  EXPECT_EQ(brief("\x1b[31mred\t|\n"), "\\x1b[31mred\\x09|\\x0a");
  EXPECT_EQ(brief(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(brief(std::string(201, 'x')), std::string(197, 'x') + "...");
  EXPECT_EQ(brief(std::string(150, '\n')).size(), 200u);
  EXPECT_EQ(brief(std::string(196, 'x') + "\xc3\xa9" + std::string(9, 'y')), std::string(196, 'x') + "...");
  EXPECT_EQ(brief(std::string(9, '\x80'), 5), "...") << "no character begins in it";
  EXPECT_EQ((Ended{1, "", "noise\n\x1b[31m" + std::string(3'000'000, 'x')}).reason().size(), 200u);
  EXPECT_EQ((Ended{1, "", "flashpad: error: \x1b" + std::string(3'000'000, 'x')}).reason().size(), 1000u);
}

TEST(Command, FindsPrograms) {
  Script const script("exit 0", "flashpad-test-program");
  EXPECT_EQ(find_program(script.path()), script.path());
  EXPECT_EQ(find_program("flashpad-test-program"), "");
  EXPECT_EQ(find_program("flashpad-test-program", {script.folder()}), script.path());
  EXPECT_EQ(find_program(script.folder()), "") << "a folder is no program";
  EXPECT_NE(find_program("sh"), "");
}

TEST(Profiler, SimulatesNoGpu) {
  EXPECT_THAT(message_of<Denied>([] { make_profiler("cuda", {.program = "", .simulate = true}); }),
              HasSubstr("--simulate"));
}

}  // namespace
}  // namespace flashpad::profile
