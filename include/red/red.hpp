/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libred for C++17: the objects of red.h as movable owners, and exceptions instead of status codes. Header-only; all
 * rules of red.h hold. What has no wrapper here is reached through get(), which gives the C handle.
 */
#ifndef RED_RED_HPP
#define RED_RED_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <red/red.h>

namespace red {

/* what() is the sentence of red_last_error(). */
class error : public std::runtime_error {
public:
  explicit error(red_status status) : std::runtime_error(red_last_error()), status_(status) {}
  red_status status() const noexcept { return status_; }

private:
  red_status status_;
};

inline void check(red_status status) {
  if (status != RED_OK) throw error(status);
}

/* The dtype of a C++ number. f16 and bf16 have no C++17 type: set them in a red_problem. */
template <class T> constexpr red_dtype dtype_of() {
  constexpr bool number = std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool>;
  static_assert(number || std::is_same_v<std::remove_cv_t<T>, float> || std::is_same_v<std::remove_cv_t<T>, double>,
                "red: the element type must be an integer, float or double");
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? RED_F32 : RED_F64;
  } else {
    static_assert(sizeof(T) <= 8, "red: integers have at most 64 bits");
    constexpr red_dtype with_sign[] = {RED_I8, RED_I16, RED_I32, RED_I64};
    constexpr red_dtype without[] = {RED_U8, RED_U16, RED_U32, RED_U64};
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? with_sign[log2] : without[log2];
  }
}

/* A problem on elements of T with results of Out, to be refined member by member. */
template <class T, class Out> red_problem problem(red_kind kind, red_op op, std::uint64_t n) {
  red_problem made = RED_PROBLEM_INIT(kind, op, dtype_of<T>(), n);
  made.out = dtype_of<Out>();
  return made;
}

namespace detail {
template <class Handle, void (*Destroy)(Handle *)> struct owner {
  struct destroy {
    void operator()(Handle *handle) const noexcept { Destroy(handle); }
  };
  std::unique_ptr<Handle, destroy> handle;
  Handle *get() const noexcept { return handle.get(); }
};
} // namespace detail

class context : public detail::owner<red_context, red_context_destroy> {
public:
  /* `backend` as RED_BACKEND takes it; NULL: the environment variable, then automatic. */
  explicit context(const char *backend = nullptr, unsigned threads = 0) {
    red_context_options options = {};
    options.size = sizeof options;
    options.backend = backend;
    options.threads = threads;
    create(options);
  }
  explicit context(const red_context_options &options) { create(options); }

  red_device_info device(red_memory memory = RED_HOST) const {
    red_device_info info = {};
    info.size = sizeof info;
    check(red_context_device(get(), memory, &info));
    return info;
  }

private:
  void create(const red_context_options &options) {
    red_context *made = nullptr;
    check(red_context_create(&options, &made));
    handle.reset(made);
  }
};

class queue : public detail::owner<red_queue, red_queue_destroy> {
public:
  explicit queue(const context &on) {
    red_queue *made = nullptr;
    check(red_queue_create(on.get(), &made));
    handle.reset(made);
  }
  /* The application's stream or command queue, which stays the application's. */
  queue(const context &on, void *native) {
    red_queue *made = nullptr;
    check(red_queue_wrap(on.get(), native, &made));
    handle.reset(made);
  }
  void finish() { check(red_queue_finish(get())); }
};

/* Destroy plans before their context. */
class plan : public detail::owner<red_plan, red_plan_destroy> {
public:
  plan(const context &on, const red_problem &what) {
    red_plan *made = nullptr;
    check(red_plan_create(on.get(), &what, &made));
    handle.reset(made);
  }
  std::uint64_t workspace() const noexcept { return red_plan_workspace(get()); }
  void execute(const void *in, void *out) const { check(red_plan_execute(get(), nullptr, in, out)); }
  void execute(queue &on, const void *in, void *out) const { check(red_plan_execute(get(), on.get(), in, out)); }
  void execute(queue &on, const red_args &args) const { check(red_plan_execute_args(get(), on.get(), &args)); }
};

class accumulator : public detail::owner<red_accumulator, red_accumulator_destroy> {
public:
  /* Of a part of a larger reduction, which begins at its element `first`. */
  accumulator(const context &on, const red_problem &what, std::uint64_t first) {
    red_accumulator *made = nullptr;
    check(red_accumulator_create_at(on.get(), &what, first, &made));
    handle.reset(made);
  }
  accumulator(const context &on, const red_problem &what) {
    red_accumulator *made = nullptr;
    check(red_accumulator_create(on.get(), &what, &made));
    handle.reset(made);
  }
  void add(const void *in, std::uint64_t n) { check(red_accumulator_add(get(), in, n)); }
  void add(const void *x, const void *y, std::uint64_t n) { check(red_accumulator_add2(get(), x, y, n)); }
  void scan(const void *in, std::uint64_t n, void *out) { check(red_accumulator_scan(get(), in, n, out)); }
  void result(void *out) const { check(red_accumulator_result(get(), out)); }
  void merge(const accumulator &from) { check(red_accumulator_merge(get(), from.get())); }
  std::uint64_t count() const noexcept { return red_accumulator_count(get()); }

  /* As bytes, for a file or another process, and back. */
  std::vector<unsigned char> save() const {
    std::size_t size = 0;
    check(red_accumulator_save(get(), nullptr, 0, &size));
    std::vector<unsigned char> bytes(size);
    check(red_accumulator_save(get(), bytes.data(), size, &size));
    return bytes;
  }
  static accumulator load(const context &on, const void *bytes, std::size_t size) {
    red_accumulator *made = nullptr;
    check(red_accumulator_load(on.get(), bytes, size, &made));
    return accumulator(made);
  }

private:
  explicit accumulator(red_accumulator *made) { handle.reset(made); }
};

/* One call on host memory with the default context, result of a type that the operator's output may have. */
template <class Out, class T> Out reduce(red_op op, const T *in, std::uint64_t n) {
  const red_problem what = problem<T, Out>(RED_REDUCE, op, n);
  Out result;
  check(red_run(nullptr, &what, in, &result));
  return result;
}

/* The sum of x[i] * y[i]. */
template <class Out, class T> Out dot(const T *x, const T *y, std::uint64_t n) {
  const red_problem what = problem<T, Out>(RED_REDUCE, RED_DOT, n);
  Out result;
  check(red_run2(nullptr, &what, x, y, &result));
  return result;
}

/* Statistics of n > 0 elements: RED_STAT_.. or'ed, 0 for RED_STAT_DEFAULT. */
template <class T> red_stats_result stats(const T *in, std::uint64_t n, unsigned parts = 0) {
  red_problem what = RED_PROBLEM_INIT(RED_STATS, RED_SUM, dtype_of<T>(), n);
  what.stats = parts;
  red_stats_result result = {};
  result.size = sizeof result;
  check(red_run(nullptr, &what, in, &result));
  return result;
}

template <class Out, class T> void inclusive_scan(red_op op, const T *in, std::uint64_t n, Out *out) {
  const red_problem what = problem<T, Out>(RED_INCLUSIVE_SCAN, op, n);
  check(red_run(nullptr, &what, in, out));
}

template <class Out, class T> void exclusive_scan(red_op op, const T *in, std::uint64_t n, Out *out) {
  const red_problem what = problem<T, Out>(RED_EXCLUSIVE_SCAN, op, n);
  check(red_run(nullptr, &what, in, out));
}

} // namespace red

#endif
