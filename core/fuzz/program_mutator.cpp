// Mutates programs by their words, as libFuzzer does by bytes: most of what comes out can still be read, and gets as
// far as the machine.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

constexpr std::string_view words[] = {"X",    "Y",      "_",      "a",    "1",  "0.5", "[]",      "f(X)", "[X|Y]",
                                      "p(X)", "0.5 : ", "[X] : ", " :- ", ", ", " ; ", " | true", ". "};

int kind_of(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? 1
         : std::string_view("+-*/\\^<>=~:.?@#&$").find(c) < 99   ? 2
                                                                 : 0;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool goes_on = i > 0 && kind_of(text[i]) != 0 && kind_of(text[i]) == kind_of(text[i - 1]);
    if (!goes_on) out.emplace_back();
    out.back() += text[i];
  }
  return out;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  std::vector<std::string> parts = words_of({reinterpret_cast<const char*>(data), size});
  if (parts.empty() || random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (auto rounds = 1 + random() % 4; rounds > 0; --rounds) {
    const auto place = [&] { return static_cast<std::ptrdiff_t>(random() % parts.size()); };
    const std::ptrdiff_t from = place(), to = place();
    switch (random() % 5) {
      case 0:
        parts[to] = parts[from];
        break;
      case 1:
        std::swap(parts[from], parts[to]);
        break;
      case 2:
        if (parts.size() > 1) parts.erase(parts.begin() + from);
        break;
      case 3:
        parts.insert(parts.begin() + to, std::string(words[random() % std::size(words)]));
        break;
      default: {
        const std::ptrdiff_t length = std::min<std::ptrdiff_t>(1 + random() % 12, std::ssize(parts) - from);
        const std::vector<std::string> copied(parts.begin() + from, parts.begin() + from + length);
        parts.insert(parts.begin() + to, copied.begin(), copied.end());
      }
    }
  }
  std::string text;
  for (const std::string& part : parts) text += part;
  const std::size_t length = std::min(text.size(), max_size);
  std::copy_n(text.begin(), length, data);
  return length;
}
