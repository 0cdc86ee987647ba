// A folder of files and links that is gone when it goes out of scope.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace strata::topology::test {

class FolderTree final {
 public:
  FolderTree() {
    std::string name = (std::filesystem::temp_directory_path() / "strata-tree-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  FolderTree(const FolderTree&) = delete;
  FolderTree& operator=(const FolderTree&) = delete;
  ~FolderTree() { std::filesystem::remove_all(root_); }

  const std::filesystem::path& root() const { return root_; }
  std::string write(const std::string& path, const std::string& text) const {
    make_folder_of(path);
    std::ofstream(root_ / path) << text;
    return (root_ / path).string();
  }
  void link(const std::string& path, const std::string& target) const {
    make_folder_of(path);
    std::filesystem::create_directories(root_ / target);
    std::filesystem::create_directory_symlink(root_ / target, root_ / path);
  }

 private:
  void make_folder_of(const std::string& path) const {
    std::filesystem::create_directories((root_ / path).parent_path());
  }
  std::filesystem::path root_;
};

}  // namespace strata::topology::test
