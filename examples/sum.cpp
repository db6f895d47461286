/* SPDX-License-Identifier: BSD-2-Clause */
/* A sum, a running sum, and a sum in pieces that is saved on the way, from C++; errors are exceptions. */
#include <red/red.hpp>

#include <cstdio>
#include <vector>

int main() try {
  const std::vector<float> data(100000, 0.1f);

  const double sum = red::reduce<double>(RED_SUM, data.data(), data.size());
  std::vector<float> running(data.size());
  red::inclusive_scan(RED_SUM, data.data(), data.size(), running.data());

  const red::context cpu("omp");
  red_problem problem = red::problem<float, double>(RED_REDUCE, RED_SUM, 0);
  red::accumulator begun(cpu, problem);
  begun.add(data.data(), 777);
  const std::vector<unsigned char> saved = begun.save(); /* for another day, or another process */
  red::accumulator resumed = red::accumulator::load(cpu, saved.data(), saved.size());
  resumed.add(data.data() + 777, data.size() - 777);
  double same;
  resumed.result(&same);

  std::printf("%.17g %.9g %s\n", sum, running.back(), sum == same ? "same bits" : "other bits");
  return sum == same ? 0 : 1;
} catch (const red::error &failure) {
  std::fprintf(stderr, "%s: %s\n", red_strerror(failure.status()), failure.what());
  return 1;
}
