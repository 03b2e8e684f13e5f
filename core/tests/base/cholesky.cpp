#include "baytree/base/cholesky.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "baytree/base/rng.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;

constexpr auto as_it_is = [](std::size_t, double left) { return left; };

TEST_CASE("a factor, and what stands behind the matrix") {
  Stream stream(1, Role::chain, 0);
  for (const std::size_t n : {1, 2, 5, 19}) {
    const std::size_t width = n + 1;
    std::vector<double> root(n * n), a(n * width), x(n), low(n);
    for (double& value : root) value = stream.normal();
    for (double& value : x) value = stream.normal();
    // A = R'R + I, and behind it Ax
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = i == j;
        for (std::size_t k = 0; k < n; ++k) sum += root[k * n + i] * root[k * n + j];
        a[i * width + n] += sum * x[j];
        if (j >= i) a[i * width + j] = sum;
      }
    const std::vector<double> before = a;
    REQUIRE(factorise(a.data(), n, width, as_it_is) == n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) {
        double sum = 0.0;
        for (std::size_t k = 0; k <= i; ++k) sum += a[k * width + i] * a[k * width + j];
        CHECK(std::abs(sum - before[i * width + j]) < 1e-9);
      }
    for (std::size_t i = 0; i < n; ++i) low[i] = before[i * width + n];
    solve_lower(a.data(), n, width, low.data());
    for (std::size_t i = 0; i < n; ++i) CHECK(low[i] == a[i * width + n]);  // to the bit
    solve_upper(a.data(), n, width, low.data());
    for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(low[i] - x[i]) < 1e-9);
  }
}

TEST_CASE("a pivot that is refused, and one that is raised") {
  std::vector<double> a{4.0, 2.0, 0.0, 1.0}, raised = a;
  CHECK(factorise(a.data(), 2, 2, as_it_is) == 1);
  CHECK(factorise(raised.data(), 2, 2, [](std::size_t, double left) { return std::fmax(left, 0.25); }) == 2);
  CHECK(raised[3] == 0.5);
}

}  // namespace
