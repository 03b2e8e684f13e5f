#include "baytree/base/interruption.hpp"

#include <chrono>

#include "base/bindings.hpp"

namespace baytree::python {
namespace {

unsigned long main_thread = 0;

/// Lets Python run its handlers of signals, some times a second, which it does in its main thread alone. Ctrl-C throws
/// unless a handler says otherwise.
void listen() {
  using Clock = std::chrono::steady_clock;
  static constexpr auto pause = std::chrono::milliseconds(50);
  static Clock::time_point next;
  if (PyThread_get_thread_ident() != main_thread) return;
  const auto now = Clock::now();
  if (now < next) return;
  next = now + pause;
  nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

void bind_interruption(nb::module_& module) {
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  interruption.listen = &listen;
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  module.def(
      "interrupt", [](bool requested) { interruption.requested = requested; }, nb::arg("requested"),
      "Ends what the core does in whichever thread, with KeyboardInterrupt, until it is called with False.");
}

}  // namespace baytree::python
