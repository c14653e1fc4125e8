// Harwell-Boeing texts from small matrices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace krysol_tests {

/// Numbers in fields: as a format says, and how it spells them.
struct Fields {
  std::string format;
  std::size_t count = 1;
  std::size_t width = 0;
  std::function<std::string(double)> spell = {};

  /// A section: `count` fields a line, numbers at their right ends.
  template <class Number>
  std::string cards(const std::vector<Number>& numbers) const {
    std::string text;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      text += right(spell ? spell(static_cast<double>(numbers[k])) : plain(numbers[k]), width);
      if ((k + 1) % count == 0 || k + 1 == numbers.size()) text += '\n';
    }
    return text;
  }

  static std::string plain(std::int64_t n) { return std::to_string(n); }
  static std::string plain(double v) {  // with three digits after the point
    const std::string text = std::to_string(v);
    return text.substr(0, text.size() - 3);
  }

  static std::string right(const std::string& word, std::size_t width) {
    return std::string(width > word.size() ? width - word.size() : 0, ' ') + word;
  }
  static std::string left(std::string word, std::size_t width) {
    word.resize(std::max(width, word.size()), ' ');
    return word;
  }
};

/// Compressed columns, or elements, and what may follow them.
struct Boeing {
  std::string type = "RUA";
  std::int64_t rows = 0;
  std::int64_t cols = 0;  // or elements
  std::vector<std::int64_t> pointers{1};
  std::vector<std::int64_t> indices;
  std::vector<double> values;  // of complex numbers real and imaginary part
  std::int64_t element_values = 0;
  std::string vector_type;  // "F", "FGX", "M"; empty: none
  std::int64_t vectors = 0;
  std::vector<std::int64_t> vector_pointers;  // of type M
  std::vector<std::int64_t> vector_indices;
  std::vector<double> vector_values;  // right-hand sides, guesses and solutions, each on new lines
  std::size_t vector_lists = 1;       // in `vector_values`
  Fields pointer_fields{"(16I5)", 16, 5};
  Fields index_fields{"(16I5)", 16, 5};
  Fields value_fields{"(10F8.3)", 10, 8};
  Fields vector_fields{"(10F8.3)", 10, 8};

  std::string text() const {
    const auto lines = [](const std::string& cards) {
      std::size_t n = 0;
      for (const char c : cards) n += c == '\n' ? 1 : 0;
      return n;
    };
    const auto size = [](auto n) { return Fields::right(std::to_string(n), 14); };
    const std::string pointer_cards = pointer_fields.cards(pointers);
    const std::string index_cards = index_fields.cards(indices);
    const std::string value_cards = value_fields.cards(values);
    const std::string vector_cards = all_vectors();
    std::string all = Fields::left("A small matrix", 72) + "SMALL   \n";
    const std::size_t counts[]{lines(pointer_cards), lines(index_cards), lines(value_cards),
                               lines(vector_cards)};
    all += size(counts[0] + counts[1] + counts[2] + counts[3]);
    for (const std::size_t n : counts) all += size(n);
    all += "\n" + Fields::left(type, 14) + size(rows) + size(cols) + size(indices.size()) +
           size(element_values) + "\n" + Fields::left(pointer_fields.format, 16) +
           Fields::left(index_fields.format, 16) + Fields::left(value_fields.format, 20) +
           (vector_type.empty() ? "" : vector_fields.format) + "\n";
    if (!vector_type.empty()) {
      all += Fields::left(vector_type, 14) + size(vectors) + size(vector_indices.size()) + "\n";
    }
    return all + pointer_cards + index_cards + value_cards + vector_cards;
  }

 private:
  std::string all_vectors() const {
    std::string text = pointer_fields.cards(vector_pointers) + index_fields.cards(vector_indices);
    const std::size_t n = vector_values.size() / vector_lists;
    for (std::size_t k = 0; k < vector_lists; ++k) {
      const auto begin = vector_values.begin() + static_cast<std::ptrdiff_t>(k * n);
      text +=
          vector_fields.cards(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(n)));
    }
    return text;
  }
};

/// A matrix of 3 x 3 of two elements, of rows 1 and 2 and of rows 3 and 2, with all their values.
inline Boeing two_elements(const std::string& type, const std::vector<double>& values) {
  Boeing boeing;
  boeing.type = type;
  boeing.rows = 3;
  boeing.cols = 2;
  boeing.pointers = {1, 3, 5};
  boeing.indices = {1, 2, 3, 2};
  boeing.values.assign(values.begin(), values.end());
  boeing.element_values = static_cast<int>(values.size());
  return boeing;
}

}  // namespace krysol_tests
