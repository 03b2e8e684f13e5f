#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "baytree/slp/program/data.hpp"

namespace baytree::slp {

/// What went wrong while a program ran; the machine adds where.
struct Trouble {
  std::string message;
};

/// The memory that a machine may take for what it proves, and has taken; a table's nodes, which the machine makes,
/// count as well. What program and table take themselves comes on top, so that a run can always begin.
class Budget {
 public:
  Budget(std::size_t most, std::size_t on_top, const Data* data)
      : most_(most), on_top_(on_top + (data ? data->held() : 0)), data_(data) {}
  Budget(const Budget&) = delete;

  /// Throws Trouble where there is not so much left.
  void take(std::size_t bytes) {
    if (bytes > left())
      throw Trouble{"the program needs more than the " +
                    (most_ >> 20 ? std::to_string(most_ >> 20) + " MiB" : std::to_string(most_ >> 10) + " KiB") +
                    " of memory it may use"};
    taken_ += bytes;
  }
  void give_back(std::size_t bytes) { taken_ -= bytes; }
  std::size_t taken() const { return taken_; }
  std::size_t left() const {
    const std::size_t all = most_ + on_top_, held = taken_ + (data_ ? data_->held() : 0);
    return held < all ? all - held : 0;
  }

 private:
  std::size_t most_, on_top_, taken_ = 0;
  const Data* data_;
};

/// Takes from a budget.
template <class T>
struct Counted {
  using value_type = T;

  Counted(Budget& of) : budget(&of) {}
  template <class U>
  Counted(const Counted<U>& other) : budget(other.budget) {}

  T* allocate(std::size_t n) {
    budget->take(n * sizeof(T));
    try {
      return std::allocator<T>().allocate(n);
    } catch (...) {
      budget->give_back(n * sizeof(T));
      throw;
    }
  }
  void deallocate(T* place, std::size_t n) {
    std::allocator<T>().deallocate(place, n);
    budget->give_back(n * sizeof(T));
  }
  template <class U>
  bool operator==(const Counted<U>& other) const {
    return budget == other.budget;
  }

  Budget* budget;
};

template <class T>
using Held = std::vector<T, Counted<T>>;

/// Gives all back that these hold.
template <class... Vectors>
void drop(Vectors&... vectors) {
  (Vectors(vectors.get_allocator()).swap(vectors), ...);
}

/// Cells, which are most of what a machine holds: they grow in place where the system can, as a vector cannot.
class Cells {
 public:
  explicit Cells(Budget& budget) : budget_(budget) {}
  Cells(const Cells&) = delete;
  ~Cells() { drop(); }

  std::uint64_t& operator[](std::size_t at) { return cells_[at]; }
  const std::uint64_t& operator[](std::size_t at) const { return cells_[at]; }
  std::uint64_t* data() { return cells_; }
  std::size_t room() const { return room_; }

  void grow(std::size_t room) {
    const std::size_t more = (room - room_) * sizeof(std::uint64_t);
    budget_.take(more);
    void* const grown = std::realloc(cells_, room * sizeof(std::uint64_t));
    if (!grown) {
      budget_.give_back(more);
      throw std::bad_alloc();
    }
    cells_ = static_cast<std::uint64_t*>(grown);
    room_ = room;
  }
  void drop() {
    std::free(cells_);
    budget_.give_back(room_ * sizeof(std::uint64_t));
    cells_ = nullptr;
    room_ = 0;
  }

 private:
  Budget& budget_;
  std::uint64_t* cells_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace baytree::slp
