// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/jobs.hpp"

#include "measure/interrupt.hpp"
#include "measure/parallel.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

extern char** environ;

namespace flashpad::tuning {

namespace {

/// Pointers as exec wants them, to strings that outlive them.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// The child starts with a runtime of its own, which reads its processors and threads anew. Between fork and
/// exec only system calls: other threads of this process may hold locks.
pid_t start(cpu_set_t const& processors, std::vector<std::string> arguments,
            std::vector<std::string> environment) {
  std::vector<char*> const argv = pointers(arguments);
  std::vector<char*> const envp = pointers(environment);
  pid_t const child = fork();
  if (child == 0) {
    sched_setaffinity(0, sizeof processors, &processors);
    execve("/proc/self/exe", argv.data(), envp.data());
    _exit(127);
  }
  return child;
}

bool ended_well(pid_t child) {
  int const status = measure::wait_for_child(child);
  return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

// A cgroup's quota is not looked at: it slows all jobs alike, and the finals run alone.
std::string jobs_refusal(int jobs, int threads, bool on_gpu) {
  if (jobs <= 1) return {};
  if (on_gpu)
    return fmt::format("--jobs: {} jobs would share one GPU and disturb each other's times; allowed: 1",
                       jobs);
  int const processors = static_cast<int>(measure::own_processors().size());
  if (jobs * threads <= processors) return {};
  return fmt::format(
      "--jobs: {} jobs of {} threads each would share {} processors and disturb each other's times; "
      "allowed: up to {}",
      jobs, threads, processors, std::max(1, processors / threads));
}

int run_jobs(int jobs, int threads, std::vector<std::string> const& arguments) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string(*entry).rfind("OMP_NUM_THREADS=", 0) != 0) environment.emplace_back(*entry);
  }
  environment.push_back(fmt::format("OMP_NUM_THREADS={}", threads));
  std::vector<int> const processors = measure::own_processors();
  std::vector<pid_t> children;
  for (int job = 0; job < jobs; ++job) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < threads; ++i) CPU_SET(processors[static_cast<std::size_t>(job * threads + i)], &set);
    std::vector<std::string> own = arguments;
    own.push_back(fmt::format("--share={}/{}", job, jobs));
    children.push_back(start(set, own, environment));
  }
  int failed = 0;
  for (pid_t const child : children) failed += child > 0 && ended_well(child) ? 0 : 1;
  return failed;
}

}  // namespace flashpad::tuning
