#include "baytree/bart/chain.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "base/bindings.hpp"
#include "slp/choices.hpp"

namespace baytree::python {

using namespace bart;

namespace {

Arrays draws_to_dict(Draws draws, const Chain& chain) {
  Arrays out;
  out["tree"] = to_numpy(std::move(draws.mean.tree));
  out["value"] = to_numpy(std::move(draws.mean.value));
  if (chain.soft()) out["bandwidth"] = to_numpy(std::move(draws.mean.bandwidth));
  if (chain.has_variance()) {
    for (const auto& [name, array] : forest_to_dict(std::move(draws.variance.forest)))
      out[nb::str("variance_") + name] = array;
    out["variance_tree"] = to_numpy(std::move(draws.variance.tree));
    out["variance_value"] = to_numpy(std::move(draws.variance.value));
  }
  if (chain.has_sigma()) out["sigma"] = to_numpy(std::move(draws.sigma));
  if (chain.has_freedom()) out["freedom"] = to_numpy(std::move(draws.freedom));
  out["log_likelihood"] = to_numpy(std::move(draws.log_likelihood));
  if (chain.learns_leaf_sd()) out["leaf_sd"] = to_numpy(std::move(draws.leaf_sd));
  if (chain.sparse()) {
    out["log_weight"] = to_numpy(std::move(draws.log_weight));
    out["concentration"] = to_numpy(std::move(draws.concentration));
  }
  return out;
}

void bind(nb::module_& module) {
  nb::enum_<Proposal>(module, "SumProposal")
      .value("birth_death", Proposal::birth_death)
      .value("change", Proposal::change)
      .value("perturb", Proposal::perturb)
      .value("bandwidth", Proposal::bandwidth)
      .value("subtree", Proposal::subtree);
  nb::class_<ProposalShare>(module, "ProposalShare")
      .def(
          "__init__",
          [](ProposalShare* self, Proposal proposal, double number) { new (self) ProposalShare{proposal, number}; },
          nb::arg("proposal"), nb::arg("number"));

  nb::class_<LeafPrior>(module, "SumLeafPrior")
      .def(
          "__init__", [](LeafPrior* self, double sd, bool learns_sd) { new (self) LeafPrior{sd, learns_sd}; },
          nb::arg("sd"), nb::arg("learns_sd"));

  nb::class_<Model>(module, "SumModel")
      .def(
          "__init__",
          [](Model* self, GrowTree prior, std::size_t trees, double bandwidth, LeafPrior leaf,
             std::vector<ProposalShare> proposals, double nu, double lambda, std::size_t variance_trees, bool student,
             double power, std::uint32_t grow_sweeps, bool sparse, std::uint32_t even_sweeps, double unit) {
            new (self) Model{{std::move(prior), trees, bandwidth},
                             leaf,
                             std::move(proposals),
                             {nu, lambda},
                             variance_trees,
                             student,
                             power,
                             grow_sweeps,
                             sparse,
                             even_sweeps,
                             unit};
          },
          nb::arg("prior"), nb::arg("trees"), nb::arg("bandwidth"), nb::arg("leaf"), nb::arg("proposals"),
          nb::arg("nu"), nb::arg("scale"), nb::arg("variance_trees"), nb::arg("student"), nb::arg("power"),
          nb::arg("grow_sweeps"), nb::arg("sparse"), nb::arg("even_sweeps"), nb::arg("unit"));

  nb::class_<Response>(module, "SumResponse")
      .def_static(
          "of_numbers",
          [](const Array<double>& numbers, const Array<double>& weight) {
            return Response{.numbers = span_of(numbers), .weight = span_of(weight)};
          },
          nb::arg("numbers").noconvert(), nb::arg("weight").noconvert(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>())
      .def_static(
          "of_classes",
          [](const Array<std::int32_t>& classes, std::uint32_t n_classes, const Array<double>& weight,
             std::vector<double> centre, const Array<double>& offset) {
            return Response{.classes = span_of(classes),
                            .n_classes = n_classes,
                            .weight = span_of(weight),
                            .centre = std::move(centre),
                            .offset = span_of(offset)};
          },
          nb::arg("classes").noconvert(), nb::arg("n_classes"), nb::arg("weight").noconvert(), nb::arg("centre"),
          nb::arg("offset").noconvert(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 5>());

  nb::class_<Position>(module, "SumPosition")
      .def(nb::init<>())
      .def_rw("stream", &Position::stream)
      .def_rw("sigma", &Position::sigma)
      .def_rw("freedom", &Position::freedom)
      .def_rw("leaf_sd", &Position::leaf_sd)
      .def_rw("log_weights", &Position::log_weights)
      .def_rw("concentration", &Position::concentration)
      .def_rw("turns", &Position::turns)
      .def_rw("accepted", &Position::accepted)
      .def_rw("stored_trees", &Position::stored_trees)
      .def_rw("stored", &Position::stored)
      .def_rw("variance_stored_trees", &Position::variance_stored_trees)
      .def_rw("variance_stored", &Position::variance_stored)
      .def_prop_rw(
          "proofs",
          [](const Position& self) {
            std::vector<std::vector<Choice>> proofs;
            for (const std::vector<slp::Event>& proof : self.proofs) proofs.push_back(to_choices(proof));
            return proofs;
          },
          [](Position& self, const std::vector<std::vector<Choice>>& proofs) {
            self.proofs.clear();
            for (const std::vector<Choice>& proof : proofs) self.proofs.push_back(from_choices(proof));
          });

  nb::class_<TreeProgram>(module, "TreeProgram")
      .def(
          "__init__",
          [](TreeProgram* self, Vocabulary vocabulary, const slp::Prepared& program, slp::Semantics semantics,
             slp::Limits limits, std::vector<slp::Component> proposals) {
            new (self) TreeProgram{std::move(vocabulary), program, semantics, limits, std::move(proposals)};
          },
          nb::arg("vocabulary"), nb::arg("program"), nb::arg("semantics"), nb::arg("limits"), nb::arg("proposals"),
          nb::keep_alive<1, 3>());

  const auto released = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<Chain>(module, "SumChain")
      .def(
          "__init__",
          [](Chain* self, const BoundDesign& design, const Response& response, const Model& model, std::uint64_t seed,
             std::uint32_t number, Simd simd, const TreeProgram* program) {
            new (self)
                Chain(design.design, response, model, Stream(seed, Role::chain, number), best_simd(simd), program);
          },
          nb::arg("design"), nb::arg("response"), nb::arg("model"), nb::arg("seed"), nb::arg("number"), nb::arg("simd"),
          nb::arg("program").none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("warm_up", &Chain::warm_up, nb::arg("iterations"), nb::arg("threads"), released)
      .def("end_warm_up", &Chain::end_warm_up)
      .def("advance", &Chain::advance, nb::arg("iterations"), nb::arg("threads") = 1, released)
      .def("draw", &Chain::draw, nb::arg("draws"), nb::arg("thin"), nb::arg("threads") = 1, released)
      .def_prop_ro("log_likelihood", &Chain::log_likelihood)
      .def_prop_ro("turns", &Chain::turns)
      .def_prop_ro("accepted", &Chain::accepted)
      .def("take",
           [](Chain& self) {
             Draws draws = self.take();
             Arrays forest = forest_to_dict(std::move(draws.mean.forest));
             return std::make_pair(forest, draws_to_dict(std::move(draws), self));
           })
      .def("trees", [](const Chain& self) { return forest_to_dict(self.trees()); })
      .def("values", [](const Chain& self) { return to_numpy(self.values()); })
      .def("bandwidths", [](const Chain& self) { return to_numpy(self.bandwidths()); })
      .def("position", &Chain::position)
      .def(
          "restore",
          [](Chain& self, const Arrays& forest, const Array<float>& values, const Array<float>& bandwidths,
             const Position& position) {
            self.restore(forest_view(forest), span_of(values), span_of(bandwidths), position);
          },
          nb::arg("forest"), nb::arg("values").noconvert(), nb::arg("bandwidths").noconvert(), nb::arg("position"));
}

const FamilyBinding bound{"bart", bind};

}  // namespace
}  // namespace baytree::python
