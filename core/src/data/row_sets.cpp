#include "baytree/data/row_sets.hpp"

namespace baytree {
namespace {

/// Sets of a column: those of its levels, or of its cuts.
std::size_t sets_of(const Column& column) {
  if (column.categorical) return column.n_codes();
  return column.n_codes() == 0 ? 0 : column.n_codes() - 1;
}

}  // namespace

RowSets::RowSets(const Design& design, Simd widest) : kernels_(set_kernels(widest)), words_(words_for(design.rows)) {
  std::size_t sets = 1;
  for (const Column& column : design.columns) {
    first_.push_back(sets);
    sets += sets_of(column);
  }
  sets_.resize(sets * words_);
  const auto add = [&](std::size_t number, Row row) {
    sets_[number * words_ + row / word_bits] |= Word{1} << row % word_bits;
  };
  for (Row row = 0; row < design.rows; ++row) add(0, row);
  for (std::size_t feature = 0; feature < first_.size(); ++feature) {
    const Column& column = design.columns[feature];
    const std::size_t first = first_[feature], n = sets_of(column);
    with_codes(column, [&](const auto* codes) {
      for (Row row = 0; row < design.rows; ++row)
        if (codes[row] < n) add(first + codes[row], row);
    });
    if (column.categorical) continue;
    for (std::size_t word = (first + 1) * words_; word < (first + n) * words_; ++word)
      sets_[word] |= sets_[word - words_];
  }
}

bool RowSets::suit(const Design& design) {
  constexpr std::size_t most_rows = 8192, most_bytes = std::size_t{1} << 25;
  if (design.rows > most_rows) return false;
  std::size_t sets = 1;
  for (const Column& column : design.columns) sets += sets_of(column);
  return sets * words_for(design.rows) * sizeof(Word) <= most_bytes;
}

void choose_rows(Design& design, RowForm form, Simd widest) {
  const bool sets = form == RowForm::sets || (form == RowForm::suited && RowSets::suit(design));
  design.sets = sets ? std::make_shared<const RowSets>(design, widest) : nullptr;
}

}  // namespace baytree
