/* SPDX-License-Identifier: BSD-2-Clause */
/* The C++ header as installed: a result, and an error that arrives as an exception. */
#include <red/red.hpp>

#include <cstdint>
#include <cstdio>

int main() {
  const std::uint16_t data[] = {60000, 3, 60000};
  if (red::reduce<std::uint64_t>(RED_SUM, data, 3) != 120003) return 1;
  if (red::reduce<std::uint64_t>(RED_ARGMIN, data, 3) != 1) return 1;
  if (red::stats(data, 3, RED_STAT_COUNT).count != 3) return 1;

  const red::context cpu("omp");
  red::accumulator pieces(cpu, red::problem<std::uint16_t, std::uint64_t>(RED_REDUCE, RED_SUM, 0));
  pieces.add(data, 2);
  const auto saved = pieces.save();
  red::accumulator resumed = red::accumulator::load(cpu, saved.data(), saved.size());
  resumed.add(data + 2, 1);
  std::uint64_t sum = 0;
  resumed.result(&sum);
  if (resumed.count() != 3 || sum != 120003) return 1;
  try {
    red::accumulator::load(cpu, saved.data(), saved.size() - 1);
    return 1;
  } catch (const red::error &damaged) {
    if (damaged.status() != RED_ERR_INVALID) return 1;
  }

  try {
    red::reduce<std::uint16_t>(RED_MIN, data, 0);
  } catch (const red::error &failure) {
    std::printf("%s\n", failure.what());
    return failure.status() == RED_ERR_EMPTY ? 0 : 1;
  }
  return 1;
}
