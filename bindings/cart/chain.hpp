#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "base/bindings.hpp"
#include "base/tempering.hpp"
#include "baytree/cart/chain.hpp"

namespace baytree::python {

/// What chains over trees have in common, whatever their prior: `Bound` is a tempered chain, of one rung or more.
template <class Bound>
void bind_chain_steps(nb::class_<Bound> bound) {
  bind_tempered_steps(bound);
  bound.def_prop_ro("turns", [](Bound& self) { return self.cold().mixture().turns; })
      .def_prop_ro("accepted", [](Bound& self) { return self.cold().mixture().accepted; })
      .def("take",
           [](Bound& self) {
             cart::Draws draws = self.take();
             Arrays out;
             const bool has_values = !self.cold().values().empty();
             out["statistics"] = to_numpy(std::move(draws.statistics));
             if (has_values) out["value"] = to_numpy(std::move(draws.value));
             out["tree"] = to_numpy(std::move(draws.state));
             out["log_likelihood"] = to_numpy(std::move(draws.log_likelihood));
             out["log_prior"] = to_numpy(std::move(draws.log_prior));
             if (self.size() > 1) out["rung_log_likelihood"] = to_numpy(std::move(draws.rung_log_likelihood));
             return std::make_tuple(forest_to_dict(std::move(draws.forest)), out);
           })
      .def_prop_ro("best",
                   [](Bound& self) {
                     cart::Draws best = self.best();
                     std::optional<std::tuple<Arrays, NumpyArray, double, double>> found;
                     // Where no tree has a likelihood that is a number there is none.
                     if (!best.state.empty())
                       found.emplace(forest_to_dict(std::move(best.forest)), to_numpy(std::move(best.statistics)),
                                     best.log_likelihood[0], best.log_prior[0]);
                     return found;
                   })
      .def(
          "restore_best",
          [](Bound& self, const Arrays& forest, const Array<double>& statistics, double log_likelihood,
             double log_prior) {
            const auto copy = [](auto span) { return std::vector(span.begin(), span.end()); };
            const ForestView tree = forest_view(forest);
            self.set_best({.forest = {copy(tree.feature), copy(tree.cut), copy(tree.subset), copy(tree.missing_left),
                                      copy(tree.rows), copy(tree.begin)},
                           .statistics = copy(span_of(statistics)),
                           .value = {},
                           .state = {0},
                           .log_likelihood = {log_likelihood},
                           .log_prior = {log_prior},
                           .rung_log_likelihood = {}});
          },
          nb::arg("forest"), nb::arg("statistics"), nb::arg("log_likelihood"), nb::arg("log_prior"))
      .def(
          "values", [](Bound& self, std::size_t rung) { return self.rung(rung).values(); }, nb::arg("rung") = 0)
      .def(
          "restore_values",
          [](Bound& self, std::vector<double> values, std::size_t rung) {
            self.rung(rung).restore_values(std::move(values));
          },
          nb::arg("values"), nb::arg("rung") = 0)
      .def(
          "tree",
          [](Bound& self, std::size_t rung) {
            Forest forest;
            forest.add(self.rung(rung).nodes());
            return forest_to_dict(std::move(forest));
          },
          nb::arg("rung") = 0)
      .def(
          "rung_position",
          [](Bound& self, std::size_t rung) {
            cart::Position p = self.rung(rung).position();
            return std::make_tuple(p.stream, std::move(p.turns), std::move(p.accepted));
          },
          nb::arg("rung"))
      .def(
          "restore_rung",
          [](Bound& self, std::size_t rung, std::uint64_t stream, std::vector<std::uint64_t> turns,
             std::vector<std::uint64_t> accepted) {
            self.rung(rung).restore(cart::Position{stream, std::move(turns), std::move(accepted)});
          },
          nb::arg("rung"), nb::arg("stream"), nb::arg("turns"), nb::arg("accepted"));
}

}  // namespace baytree::python
