#include "baytree/subset/chain.hpp"

#include <nanobind/stl/vector.h>

#include "base/tempering.hpp"
#include "baytree/base/error.hpp"
#include "baytree/subset/enumeration.hpp"

namespace baytree::python {
namespace {

/// Models as a dictionary of arrays; the names of those that were drawn are told apart by a word in front.
void list_models(nb::dict& out, subset::ListedModels models, const char* word) {
  const auto put = [&](const char* name, nb::object values) { out[nb::str(word) + nb::str(name)] = std::move(values); };
  put("unit", to_numpy(std::move(models.unit)));
  put("begin", to_numpy(std::move(models.begin)));
  put("log_likelihood", to_numpy(std::move(models.log_likelihood)));
  put("log_prior", to_numpy(std::move(models.log_prior)));
}

void give_coefficients(nb::dict& out, std::vector<double> mean, subset::CoefficientDraws given) {
  out["mean"] = to_numpy(std::move(mean));
  out["coefficient"] = to_numpy(std::move(given.coefficient));
  out["sigma"] = to_numpy(std::move(given.sigma));
  out["level"] = to_numpy(std::move(given.level));
  out["shrinkage"] = to_numpy(std::move(given.shrinkage));
}

void bind(nb::module_& module) {
  using subset::CoefficientPrior;
  nb::enum_<CoefficientPrior>(module, "CoefficientPrior")
      .value("fixed", CoefficientPrior::fixed)
      .value("empirical", CoefficientPrior::empirical)
      .value("hyper_g", CoefficientPrior::hyper_g)
      .value("hyper_gn", CoefficientPrior::hyper_gn)
      .value("ridge", CoefficientPrior::ridge);
  nb::class_<subset::Evidence>(module, "Evidence")
      .def(nb::init<CoefficientPrior, double, double, double, double>(), nb::arg("prior"), nb::arg("parameter"),
           nb::arg("rows"), nb::arg("freedom"), nb::arg("total"))
      .def("log_marginal", &subset::Evidence::log_marginal, nb::arg("columns"), nb::arg("explained"),
           nb::arg("log_determinant") = 0.0)
      .def("mean_shrinkage", &subset::Evidence::mean_shrinkage, nb::arg("columns"), nb::arg("explained"));

  nb::class_<subset::Problem>(module, "SubsetProblem")
      .def(
          "__init__",
          [](subset::Problem* self, const Array<double>& gram, const Array<double>& response,
             const subset::Evidence& evidence, std::vector<std::uint32_t> unit_begin, std::vector<bool> free,
             std::vector<std::vector<std::uint32_t>> parents, bool weak, std::vector<double> log_size,
             std::vector<double> log_odds) {
            subset::Problem problem{.gram = span_of(gram),
                                    .response = span_of(response),
                                    .evidence = evidence,
                                    .unit_begin = std::move(unit_begin),
                                    .free = std::move(free),
                                    .parents = std::move(parents),
                                    .weak = weak,
                                    .log_size = std::move(log_size),
                                    .log_odds = std::move(log_odds)};
            problem.prepare();
            new (self) subset::Problem(std::move(problem));
          },
          nb::arg("gram").noconvert(), nb::arg("response").noconvert(), nb::arg("evidence"), nb::arg("unit_begin"),
          nb::arg("free"), nb::arg("parents"), nb::arg("weak"), nb::arg("log_size"), nb::arg("log_odds"),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());

  using subset::Proposal;
  nb::enum_<Proposal>(module, "SubsetProposal")
      .value("gibbs", Proposal::gibbs)
      .value("random", Proposal::random)
      .value("metropolis", Proposal::metropolis)
      .value("informed", Proposal::informed)
      .value("replace", Proposal::replace);
  nb::class_<subset::ProposalShare>(module, "SubsetShare")
      .def(
          "__init__",
          [](subset::ProposalShare* self, Proposal proposal, double number) {
            new (self) subset::ProposalShare{proposal, number};
          },
          nb::arg("proposal"), nb::arg("number"));
  nb::class_<subset::Position>(module, "SubsetPosition")
      .def(nb::init<>())
      .def_rw("stream", &subset::Position::stream)
      .def_rw("base", &subset::Position::base)
      .def_rw("flips", &subset::Position::flips)
      .def_rw("turns", &subset::Position::turns)
      .def_rw("accepted", &subset::Position::accepted);

  using Bound = Tempered<subset::Chain>;
  nb::class_<Bound> bound(module, "SubsetChain");
  bound
      .def(
          "__init__",
          [](Bound* self, const subset::Problem& problem, const std::vector<subset::ProposalShare>& proposals,
             double power, const Tempering& tempering, std::uint64_t seed, std::uint32_t number) {
            const auto make = [&](Stream stream) {
              return std::make_unique<subset::Chain>(problem, proposals, power, stream);
            };
            new (self) Bound(tempering, make, seed, number);
          },
          nb::arg("problem"), nb::arg("proposals"), nb::arg("power"), nb::arg("tempering"), nb::arg("seed"),
          nb::arg("number"), nb::keep_alive<1, 2>())
      .def_prop_ro("turns", [](Bound& self) { return self.cold().turns(); })
      .def_prop_ro("accepted", [](Bound& self) { return self.cold().accepted(); })
      .def(
          "model", [](Bound& self, std::size_t rung) { return self.rung(rung).model(); }, nb::arg("rung") = 0)
      .def("take", [](Bound& self) {
        subset::Draws draws = self.take();
        Arrays out;
        out["unit"] = to_numpy(std::move(draws.unit));
        out["begin"] = to_numpy(std::move(draws.begin));
        out["model"] = to_numpy(std::move(draws.state));
        out["log_likelihood"] = to_numpy(std::move(draws.log_likelihood));
        out["log_prior"] = to_numpy(std::move(draws.log_prior));
        give_coefficients(out, std::move(draws.mean), std::move(draws.given));
        if (self.size() > 1) out["rung_log_likelihood"] = to_numpy(std::move(draws.rung_log_likelihood));
        return out;
      });
  bind_rung_positions(bound);
  bind_tempered_steps(bound);

  module.def(
      "enumerate_subsets",
      [](const subset::Problem& problem, std::size_t most, const Array<double>& quantiles, std::uint64_t seed) {
        subset::Enumeration found = [&] {
          nb::gil_scoped_release release;
          return subset::enumerate(problem, most, span_of(quantiles), Stream(seed, Role::chain, 0));
        }();
        Record out;
        out["log_total"] = found.log_total;
        out["inclusion"] = to_numpy(std::move(found.inclusion));
        out["sizes"] = to_numpy(std::move(found.sizes));
        out["coefficient_mean"] = to_numpy(std::move(found.moments.mean));
        out["coefficient_covariance"] = to_numpy(std::move(found.moments.covariance));
        out["noise"] = to_numpy(std::vector{found.moments.sigma, found.moments.variance});
        list_models(out, std::move(found.top), "");
        list_models(out, std::move(found.drawn), "drawn_");
        give_coefficients(out, std::move(found.mean), std::move(found.given));
        return out;
      },
      nb::arg("problem"), nb::arg("most"), nb::arg("quantiles").noconvert(), nb::arg("seed") = 0);
}

const FamilyBinding bound{"subset", bind};

}  // namespace
}  // namespace baytree::python
