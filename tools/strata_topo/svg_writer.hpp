// The few elements of SVG that the drawings need.
#pragma once
#include <string>
#include <string_view>

namespace strata::topo {

class SvgWriter final {
 public:
  // look: class names of the style sheet. Coordinates are pixels; text is placed by its left end, or its
  // middle.
  void rectangle(std::string_view look, double x, double y, double width, double height, double radius);
  void text(std::string_view look, double x, double y, const std::string& text, bool middle = false);
  // A title and, after it, a note.
  void heading(double x, double y, const std::string& title, const std::string& note);
  void line(std::string_view look, double x1, double y1, double x2, double y2, double thickness);
  void circle(std::string_view look, double x, double y, double radius);

  // All of it as a document.
  std::string document(double width, double height) const;

 private:
  std::string body_;
};

}  // namespace strata::topo
