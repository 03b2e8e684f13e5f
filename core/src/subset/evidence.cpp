#include "baytree/subset/evidence.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numbers>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/base/numeric.hpp"

namespace baytree::subset {

namespace {

// An exact fit leaves this share, so that its likelihood is finite where ν = 0; rounding leaves more.
constexpr double least_rest = 1e-13;
// Chebyshev series of this many terms on each piece of the stretched scale.
constexpr std::size_t terms = 16;

}  // namespace

/// One table a number of columns, made by whoever asks first.
struct Evidence::Tables {
  static constexpr std::size_t chunk = 1024;
  struct Chunk {
    std::array<std::once_flag, chunk> once;
    std::array<Table, chunk> table;
  };
  std::mutex mutex;
  std::array<std::atomic<Chunk*>, 64> chunks{};
  std::vector<std::unique_ptr<Chunk>> owned;

  Chunk& of(std::size_t columns) {
    const std::size_t which = columns / chunk;
    if (which >= chunks.size()) throw InputError("too many columns for one model");
    if (Chunk* found = chunks[which].load(std::memory_order_acquire)) return *found;
    const std::lock_guard lock(mutex);
    if (chunks[which].load(std::memory_order_relaxed) == nullptr) {
      owned.push_back(std::make_unique<Chunk>());
      chunks[which].store(owned.back().get(), std::memory_order_release);
    }
    return *chunks[which].load(std::memory_order_relaxed);
  }
};

/// (1+g)^(E−q/2) (1 + g rest)^(−E) p(g) as a density of s = log g. It has one peak, no narrower than 1/sqrt(q/2).
struct Evidence::Integrand {
  double half, q, a, log_rest, log_scale;
  double step, peak, largest;  // the latter on a grid of such steps

  Integrand(const Evidence& evidence, std::size_t columns, double log_of_rest)
      : half(evidence.half_),
        q(static_cast<double>(columns)),
        a(evidence.parameter_),
        log_rest(log_of_rest),
        log_scale(evidence.prior_ == CoefficientPrior::hyper_gn ? std::log(evidence.rows_) : 0.0),
        step(0.4 / std::sqrt(std::max(1.0, q / 2.0))) {
    double low = -60.0, high = 60.0 - log_rest + log_scale;
    while (high - low > 1e-6) {  // where it rises no more
      const double middle = (low + high) / 2.0;
      (rise(middle) > 0.0 ? low : high) = middle;
    }
    peak = low;
    largest = log_density(peak);
  }

  double log_density(double s) const {
    // log(1 + e^s) that neither overflows nor loses what is small.
    const auto softplus = [](double x) { return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); };
    return s + (half - q / 2.0) * softplus(s) - half * softplus(s + log_rest) - a / 2.0 * softplus(s - log_scale) +
           std::log((a - 2.0) / 2.0) - log_scale;
  }
  double rise(double s) const {
    const auto logistic = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
    return 1.0 + (half - q / 2.0) * logistic(s) - half * logistic(s + log_rest) - a / 2.0 * logistic(s - log_scale);
  }

  /// Calls visit(s, density / largest) on the grid, as far as it is not negligible: first the peak, then down from it,
  /// then up.
  template <class Visit>
  void each(Visit visit) const {
    constexpr double negligible = -40.0;
    visit(peak, 1.0);
    for (const double direction : {-1.0, 1.0})
      for (double k = 1.0;; k += 1.0) {
        const double s = peak + direction * k * step, log_term = log_density(s) - largest;
        if (log_term < negligible) break;
        visit(s, std::exp(log_term));
      }
  }

  /// By rejection: between two points of the grid the density is at most that of the one nearer to the peak.
  double draw(Stream& stream) const {
    std::vector<double> from, height;
    each([&](double s, double term) {
      if (s <= peak) {
        from.push_back(s - step);
        height.push_back(term);
      }
      if (s >= peak) {
        from.push_back(s);
        height.push_back(term);
      }
    });
    double sum = 0.0;
    for (const double term : height) sum += term;
    for (;;) {
      heed_interruption();
      double target = stream.uniform() * sum;
      std::size_t cell = 0;
      while (cell + 1 < height.size() && target >= height[cell]) target -= height[cell++];
      const double s = from[cell] + step * stream.uniform();
      if (stream.uniform() * height[cell] < std::exp(log_density(s) - largest)) return s;
    }
  }
};

Evidence::Evidence(CoefficientPrior prior, double parameter, double rows, double freedom, double total)
    : prior_(prior), parameter_(parameter), rows_(rows), half_(freedom / 2.0), total_(total) {
  const double least = mixed() ? 2.0 : 0.0;
  if (prior != CoefficientPrior::empirical && !(parameter > least && parameter < infinity))
    throw InputError("evidence: the prior's parameter is out of range");
  if (!(rows > 0.0 && rows < infinity && half_ > 0.0 && half_ < infinity && total > 0.0 && total < infinity))
    throw InputError("evidence: rows, degrees of freedom and the total square must be positive");
  if (!mixed()) return;
  integrals_ = std::make_shared<Tables>();
  shrinkages_ = std::make_shared<Tables>();
}

double Evidence::log_marginal(std::size_t columns, double explained, double log_determinant) const {
  const double q = static_cast<double>(columns), share = this->share(explained), rest = 1.0 - share;
  switch (prior_) {
    case CoefficientPrior::fixed:
      return -q / 2.0 * std::log1p(parameter_) - half_ * std::log1p(-parameter_ / (1.0 + parameter_) * share);
    case CoefficientPrior::empirical: {
      const double u = best_u(columns, share);
      return q / 2.0 * std::log(u) - half_ * std::log(rest + u * share);
    }
    case CoefficientPrior::hyper_g:
    case CoefficientPrior::hyper_gn:
      return columns == 0 ? 0.0 : integrated(columns, std::log(rest));
    case CoefficientPrior::ridge:
      break;
  }
  return -(log_determinant + q * std::log(parameter_)) / 2.0 - half_ * std::log(rest);
}

/// The best 1/(1+c): (q/2) log u − E log(1 − R + uR) is largest at q (1 − R) / (R (2E − q)).
double Evidence::best_u(std::size_t columns, double share) const {
  const double q = static_cast<double>(columns), below = share * (2.0 * half_ - q), above = q * (1.0 - share);
  return columns > 0 && below > above ? above / below : 1.0;
}

/// For a fit that leaves little, the integral grows by this power of what is left.
double Evidence::slope(std::size_t columns) const {
  return std::max(0.0, half_ - (static_cast<double>(columns) + parameter_) / 2.0 + 1.0);
}

/// Where the first columns explain something the integral turns within 1/E; a logarithmic scale shows that as wide as
/// all else.
double Evidence::stretched(double log_rest) const { return std::log1p(-half_ * log_rest); }

/// Pieces a unit of that scale. Where the columns explain as much as by chance the integral turns again, within 1/√q.
double Evidence::fineness(std::size_t columns) { return std::ceil(std::sqrt(static_cast<double>(columns) / 5.0)); }

double Evidence::integrated(std::size_t columns, double log_rest) const {
  double found = 0.0;
  const auto make = [&] {
    return tabulated(columns, 1,
                     [&](double at, double* value) { *value = integral(columns, at) + slope(columns) * at; });
  };
  look_up(*integrals_, columns, log_rest, 1, make, [&](std::size_t, double value) { found = value; });
  return found - slope(columns) * log_rest;
}

Shrinkage Evidence::shrinkage(std::size_t columns, double explained) const {
  if (columns == 0) return {};
  const double rest = 1.0 - share(explained);
  if (!mixed()) {
    const double s = mean_shrinkage(columns, explained);
    return {s, s * s, std::sqrt((1.0 - s) / rest + s)};
  }
  std::array<double, 3> found{};
  const auto make = [&] {
    return tabulated(columns, found.size(), [&](double at, double* value) {
      const Integrand integrand(*this, columns, at);
      double sum = 0.0, mean = 0.0, square = 0.0, root = 0.0;
      integrand.each([&](double s, double term) {
        const double shrinkage = 1.0 / (1.0 + std::exp(-s));
        sum += term;
        mean += term * shrinkage;
        square += term * shrinkage * shrinkage;
        // (1 − sR) / (1 − R) with 1 − s and 1 − R as they are, which may be tiny.
        root += term * std::sqrt(std::exp(-at) / (1.0 + std::exp(s)) + shrinkage);
      });
      value[0] = mean / sum;
      value[1] = square / sum;
      value[2] = root / sum;
    });
  };
  look_up(*shrinkages_, columns, std::log(rest), found.size(), make,
          [&](std::size_t which, double value) { found[which] = value; });
  return {found[0], found[1], found[2]};
}

template <class Make, class Visit>
void Evidence::look_up(Tables& tables, std::size_t columns, double log_rest, std::size_t width, Make make,
                       Visit visit) const {
  Tables::Chunk& chunk = tables.of(columns);
  const std::size_t at = columns % Tables::chunk;
  std::call_once(chunk.once[at], [&] { chunk.table[at] = make(); });
  const Table& table = chunk.table[at];
  const double z = stretched(log_rest) * fineness(columns);
  const std::size_t piece = std::min(static_cast<std::size_t>(z), table.size() / (terms * width) - 1);
  const double x = 2.0 * (z - static_cast<double>(piece)) - 1.0;
  for (std::size_t which = 0; which < width; ++which) {
    const double* series = table.data() + (piece * width + which) * terms;
    double next = 0.0, after = 0.0;  // Clenshaw's recurrence
    for (std::size_t k = terms - 1; k > 0; --k) {
      const double value = series[k] + 2.0 * x * next - after;
      after = next;
      next = value;
    }
    visit(which, series[0] + x * next - after);
  }
}

/// `value(log_rest, out)` writes so many numbers.
template <class Value>
Evidence::Table Evidence::tabulated(std::size_t columns, std::size_t width, Value value) const {
  const double fine = fineness(columns);
  const std::size_t pieces = static_cast<std::size_t>(std::ceil(stretched(std::log(least_rest)) * fine));
  Table series(pieces * width * terms);
  std::vector<double> values(terms * width);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    for (std::size_t i = 0; i < terms; ++i) {
      const double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / terms);
      value(-std::expm1((static_cast<double>(piece) + (x + 1.0) / 2.0) / fine) / half_, values.data() + i * width);
    }
    for (std::size_t which = 0; which < width; ++which)
      for (std::size_t k = 0; k < terms; ++k) {
        double sum = 0.0;
        for (std::size_t i = 0; i < terms; ++i)
          sum += values[i * width + which] *
                 std::cos(std::numbers::pi * static_cast<double>(k) * (static_cast<double>(i) + 0.5) / terms);
        series[(piece * width + which) * terms + k] = sum * (k == 0 ? 1.0 : 2.0) / terms;
      }
  }
  return series;
}

double Evidence::share(double explained) const { return std::clamp(explained / total_, 0.0, 1.0 - least_rest); }

double Evidence::rest(double explained) const { return total_ * (1.0 - share(explained)); }

double Evidence::mean_shrinkage(std::size_t columns, double explained) const {
  const double share = this->share(explained);
  switch (prior_) {
    case CoefficientPrior::fixed:
      return parameter_ / (1.0 + parameter_);
    case CoefficientPrior::empirical:
      return 1.0 - best_u(columns, share);
    case CoefficientPrior::hyper_g:
    case CoefficientPrior::hyper_gn:
      break;
    case CoefficientPrior::ridge:
      return 1.0;
  }
  const Integrand integrand(*this, columns, std::log1p(-share));
  double sum = 0.0, weighted = 0.0;
  integrand.each([&](double s, double term) {
    sum += term;
    weighted += term / (1.0 + std::exp(-s));
  });
  return weighted / sum;
}

double Evidence::draw_shrinkage(std::size_t columns, double explained, Stream& stream) const {
  if (!mixed()) return mean_shrinkage(columns, explained);
  const double share = this->share(explained);
  if (columns == 0) {
    // Nothing is known of g but its prior, P(g > x) = (1 + x/scale)^(1 − a/2), whose tail is as long as a is near 2.
    const double scale = prior_ == CoefficientPrior::hyper_gn ? rows_ : 1.0, log_tail = std::log1p(-stream.uniform());
    return 1.0 / (1.0 + 1.0 / (scale * std::expm1(-log_tail * 2.0 / (parameter_ - 2.0))));
  }
  const Integrand integrand(*this, columns, std::log1p(-share));
  return 1.0 / (1.0 + std::exp(-integrand.draw(stream)));
}

double Evidence::integral(std::size_t columns, double log_rest) const {
  const Integrand integrand(*this, columns, log_rest);
  double sum = 0.0;
  integrand.each([&](double, double term) { sum += term; });
  return integrand.largest + std::log(sum * integrand.step);
}

}  // namespace baytree::subset
