#include <nanobind/stl/vector.h>

#include <memory>

#include "base/bindings.hpp"
#include "baytree/cart/exact/bounds.hpp"
#include "baytree/cart/exact/marginals.hpp"
#include "baytree/cart/exact/trees.hpp"
#include "baytree/cart/leaf/categorical.hpp"
#include "baytree/cart/leaf/gaussian.hpp"

namespace baytree::python {
namespace {

/// The sums, and what is asked of them when it is.
class BoundSums {
 public:
  BoundSums(cart::exact::Problem problem, cart::exact::Budget budget, unsigned threads)
      : sums_(std::move(problem), budget, threads) {}

  cart::exact::Sums& operator*() { return sums_; }
  cart::exact::Sums* operator->() { return &sums_; }
  cart::exact::Marginals& marginals() {
    if (!marginals_) marginals_ = std::make_unique<cart::exact::Marginals>(sums_);
    return *marginals_;
  }

 private:
  cart::exact::Sums sums_;
  std::unique_ptr<cart::exact::Marginals> marginals_;
};

Record drawn(cart::exact::ScoredTrees draws) {
  Record out;
  out["forest"] = forest_to_dict(std::move(draws.forest));
  out["statistics"] = to_numpy(std::move(draws.statistics));
  out["log_likelihood"] = to_numpy(std::move(draws.log_likelihood));
  out["log_prior"] = to_numpy(std::move(draws.log_prior));
  return out;
}

template <class Leaf>
void bind_init(nb::class_<BoundSums>& bound) {
  bound.def(
      "__init__",
      [](BoundSums* self, const BoundDesign& design, const Leaf& leaf, GrowTree prior, double power, std::uint64_t sets,
         std::uint64_t bytes, unsigned threads) {
        new (self)
            BoundSums(cart::exact::problem_of(design.design, leaf, std::move(prior), power), {sets, bytes}, threads);
      },
      nb::arg("design"), nb::arg("leaf"), nb::arg("prior"), nb::arg("power"), nb::arg("sets"), nb::arg("bytes"),
      nb::arg("threads"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::call_guard<nb::gil_scoped_release>());
}

template <class Leaf>
void bind_init(nb::class_<cart::exact::Bounds>& bound) {
  bound.def(
      "__init__",
      [](cart::exact::Bounds* self, const BoundDesign& design, const Leaf& leaf, GrowTree prior, double power,
         cart::exact::Goal goal, std::uint64_t sets, std::uint64_t bytes, unsigned threads) {
        new (self) cart::exact::Bounds(cart::exact::problem_of(design.design, leaf, std::move(prior), power), goal,
                                       {sets, bytes}, threads);
      },
      nb::arg("design"), nb::arg("leaf"), nb::arg("prior"), nb::arg("power"), nb::arg("goal"), nb::arg("sets"),
      nb::arg("bytes"), nb::arg("threads"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
      nb::call_guard<nb::gil_scoped_release>());
}

void bind_bounds(nb::module_& module) {
  using cart::exact::Bounds;
  using cart::exact::Goal;
  nb::enum_<Goal>(module, "Goal").value("evidence", Goal::evidence).value("mode", Goal::mode);
  nb::class_<Bounds> bound(module, "ExactBounds");
  bind_init<cart::CategoricalLeaf>(bound);
  bind_init<cart::GaussianLeaf>(bound);
  bound.def_prop_ro("complete", &Bounds::complete)
      .def_prop_ro("sets", &Bounds::sets)
      .def_prop_ro("bytes", &Bounds::bytes)
      .def_prop_ro("log_low", &Bounds::log_low)
      .def_prop_ro("log_high", &Bounds::log_high)
      .def("best", [](const Bounds& self) {
        cart::exact::ScoredTrees out;
        self.best_tree(out);
        return drawn(std::move(out));
      });
}

void bind(nb::module_& module) {
  bind_bounds(module);
  nb::class_<BoundSums> bound(module, "ExactSums");
  bind_init<cart::CategoricalLeaf>(bound);
  bind_init<cart::GaussianLeaf>(bound);
  bound.def_prop_ro("complete", [](BoundSums& self) { return self->complete(); })
      .def_prop_ro("sets", [](BoundSums& self) { return self->sets(); })
      .def_prop_ro("nodes", [](BoundSums& self) { return self->nodes(); })
      .def_prop_ro("bytes", [](BoundSums& self) { return self->bytes(); })
      .def_prop_ro("log_evidence", [](BoundSums& self) { return self->log_evidence(); })
      .def(
          "draw",
          [](BoundSums& self, std::uint64_t draws, std::uint64_t seed, std::uint32_t number) {
            cart::exact::ScoredTrees out;
            Stream stream(seed, Role::chain, number);
            {
              nb::gil_scoped_release release;
              cart::exact::draw_trees(*self, draws, stream, out);
            }
            return drawn(std::move(out));
          },
          nb::arg("draws"), nb::arg("seed"), nb::arg("number"))
      .def(
          "best",
          [](BoundSums& self, std::uint64_t trees) {
            cart::exact::ScoredTrees out;
            {
              nb::gil_scoped_release release;
              cart::exact::best_trees(*self, trees, out);
            }
            return drawn(std::move(out));
          },
          nb::arg("trees"))
      .def(
          "highest_log_likelihood", [](BoundSums& self) { return cart::exact::highest_log_likelihood(*self); },
          nb::call_guard<nb::gil_scoped_release>())
      .def("root",
           [](BoundSums& self) {
             {
               nb::gil_scoped_release release;
               self.marginals();
             }
             cart::exact::ScoredTrees out;
             for (const auto& [rule, probability] : self.marginals().root()) {
               // A rule as a tree of one split.
               out.forest.add(Nodes{{.rule = rule, .size = 3}, {}, {}});
               out.log_prior.push_back(probability);
             }
             Record found;
             found["forest"] = forest_to_dict(std::move(out.forest));
             found["probability"] = to_numpy(std::move(out.log_prior));
             return found;
           })
      .def("inclusion",
           [](BoundSums& self) {
             std::vector<double> found;
             {
               nb::gil_scoped_release release;
               found = self.marginals().inclusion();
             }
             return to_numpy(std::move(found));
           })
      .def("leaves",
           [](BoundSums& self) {
             std::vector<double> found;
             {
               nb::gil_scoped_release release;
               found = self.marginals().leaves();
             }
             return to_numpy(std::move(found));
           })
      .def("fitted",
           [](BoundSums& self) {
             std::vector<double> found;
             {
               nb::gil_scoped_release release;
               found = self.marginals().fitted();
             }
             return to_numpy(std::move(found));
           })
      .def(
          "moments",
          [](BoundSums& self, const Array<std::uint32_t>& codes) {
            std::vector<double> found;
            {
              nb::gil_scoped_release release;
              found = self.marginals().moments(span_of(codes));
            }
            return to_numpy(std::move(found));
          },
          nb::arg("codes").noconvert());
}

const FamilyBinding bound{"cart, exact sums", bind};

}  // namespace
}  // namespace baytree::python
