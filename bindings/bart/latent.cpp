#include "baytree/bart/latent.hpp"

#include "base/bindings.hpp"
#include "baytree/base/error.hpp"

namespace baytree::python {
namespace {

/// Rows whose sums of trees are given; no fit uses it, tests do.
struct BoundLatent {
  BoundLatent(const Array<float>& means, const Array<std::int32_t>& response) {
    if (means.ndim() != 2 || means.shape(0) != response.size() || means.shape(1) < 3)
      throw InputError("means: give a row of three means or more, one of each class, for each response");
    const std::size_t rows = means.shape(0), classes = means.shape(1);
    for (const std::int32_t own : span_of(response))
      if (own < 0 || static_cast<std::size_t>(own) >= classes) throw InputError("response: no class of this number");
    data = {.response = span_of(response),
            .classes = static_cast<std::uint32_t>(classes),
            .grid = 0x1p-16,
            .centre = std::vector<double>(classes)};
    latent.assign(classes, std::vector<float>(rows));
    residual = latent;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < classes; ++k) latent[k][i] = means.data()[i * classes + k];
  }

  bart::Latent data;
  std::vector<std::vector<float>> residual, latent;
};

void bind(nb::module_& module) {
  module.def(
      "draw_latents",
      [](const Array<float>& means, const Array<std::int32_t>& response, std::uint64_t seed) {
        BoundLatent rows(means, response);
        Stream stream(seed, Role::chain, 0);
        bart::draw_latents(rows.data, rows.residual, rows.latent, stream);
        std::vector<float> out;
        for (std::size_t i = 0; i < response.size(); ++i)
          for (const std::vector<float>& of_class : rows.latent) out.push_back(of_class[i]);
        return to_numpy(std::move(out));
      },
      nb::arg("means").noconvert(), nb::arg("response").noconvert(), nb::arg("seed"),
      "The normal variables behind the classes of rows, one of each class: that of the response is the largest.");
  module.def(
      "class_log_likelihood",
      [](const Array<float>& means, const Array<std::int32_t>& response) {
        const BoundLatent rows(means, response);
        return bart::class_log_likelihood(rows.data, rows.residual, rows.latent);
      },
      nb::arg("means").noconvert(), nb::arg("response").noconvert());
}

const FamilyBinding bound{"bart, latent responses", bind};

}  // namespace
}  // namespace baytree::python
