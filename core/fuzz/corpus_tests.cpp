// Runs the fuzzer on files: its corpus is a test of its own, with any compiler.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** paths) {
  std::size_t files = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(paths[i])) {
      if (!entry.is_regular_file()) continue;
      std::fprintf(stderr, "  %s\n", entry.path().filename().c_str());  // the last one where it crashes
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> text(std::istreambuf_iterator<char>(file), {});
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      ++files;
    }
  std::printf("%zu programs of the corpus survived\n", files);
  return files == 0;
}
