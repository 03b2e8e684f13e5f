#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace baytree::python {

/// A contiguous array in, of any number of axes. Take it without conversion: a converted copy would not live as long as
/// the views into it.
template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
  return {array.data(), array.size()};
}

/// What is handed out, by the names that the stub has for it.
class NumpyArray : public nb::object {
 public:
  NB_OBJECT_DEFAULT(NumpyArray, nb::object, "numpy.ndarray", nb::ndarray_check)
};
class Arrays : public nb::dict {
 public:
  NB_OBJECT_DEFAULT(Arrays, nb::dict, "dict[str, numpy.ndarray]", PyDict_Check)
};
class Record : public nb::dict {
 public:
  NB_OBJECT_DEFAULT(Record, nb::dict, "dict[str, typing.Any]", PyDict_Check)
};

/// A vector out, as a NumPy array that owns it.
template <class T>
NumpyArray to_numpy(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::borrow<NumpyArray>(
      nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner)));
}

}  // namespace baytree::python
