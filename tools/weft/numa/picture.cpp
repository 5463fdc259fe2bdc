// SPDX-License-Identifier: Apache-2.0
// The picture: a strip for each array, its pages coloured by node; below it a strip coloured by who uses that part.
#include <algorithm>
#include <cstdio>

#include "numa/report.h"

namespace weft::tools::numa {

namespace {

constexpr int kWidth = 960;
constexpr int kLeft = 16;
constexpr int kStripHeight = 16;
constexpr int kRowHeight = 3 * kStripHeight + 52;
constexpr size_t kMostRows = 40;

// Told apart by people who do not see all colours, too (Okabe and Ito).
constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#d55e00", "#f0e442", "#8c6bb1"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return out;
}

const char* colour(int node) {
  if (node == -2) return "url(#several)";
  if (node < 0) return "#e8e8e8";
  return kColours[static_cast<size_t>(node) % std::size(kColours)];
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string rectangle(double x, double y, double width, double height, const char* fill) {
  return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" +
         number(height) + "\" fill=\"" + fill + "\"/>\n";
}

std::string words(double x, double y, const std::string& text, const char* style) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + style + ">" + escaped(text) + "</text>\n";
}

constexpr int kLabel = 110;

// Equal neighbours are one rectangle.
std::string strip(const char* label, const std::array<int, kStrip>& nodes, double y) {
  std::string svg = words(kLeft, y + kStripHeight - 4, label, "class=\"small\"");
  const double width = static_cast<double>(kWidth - 2 * kLeft - kLabel) / kStrip;
  for (size_t i = 0; i < kStrip;) {
    size_t end = i + 1;
    while (end < kStrip && nodes[end] == nodes[i]) ++end;
    svg += rectangle(kLeft + kLabel + width * static_cast<double>(i), y, width * static_cast<double>(end - i),
                     kStripHeight - 2, colour(nodes[i]));
    i = end;
  }
  return svg;
}

std::string legend(const Report& report, double y) {
  std::string svg;
  double x = kLeft;
  const auto add = [&](const std::string& text, int node) {
    svg += rectangle(x, y, 12, 12, colour(node));
    svg += words(x + 18, y + 11, text, "class=\"small\"");
    x += 30 + 7 * static_cast<double>(text.size());
  };
  size_t shown = 0;
  for (const int node : report.nodes) {
    if (shown++ < std::size(kColours)) add("node " + std::to_string(node), node);
  }
  add("several nodes", -2);
  add("untouched, or not seen", -1);
  return svg;
}

std::string size_text(uint64_t bytes) {
  char text[32];
  const double megabytes = static_cast<double>(bytes) / (1 << 20);
  std::snprintf(text, sizeof text, megabytes < 1024 ? "%.0f MB" : "%.1f GB",
                megabytes < 1024 ? megabytes : megabytes / 1024);
  return text;
}

std::string shortened(const std::string& text, size_t room) {
  return text.size() <= room ? text : text.substr(0, room - 2) + "..";
}

}  // namespace

std::string to_picture(const std::vector<Report>& reports) {
  std::string body;
  double y = 12;
  for (const Report& report : reports) {
    body += words(kLeft, y + 16, "process " + std::to_string(report.pid) + ": " + shortened(report.command, 90),
                  "class=\"title\"");
    y += 28;
    body += legend(report, y);
    y += 28;
    size_t shown = 0;
    for (const ArrayRow& row : report.arrays) {
      if (shown++ == kMostRows) break;
      std::string title = row.name + "  " + size_text(row.bytes);
      if (row.instances > 1) title += " (" + std::to_string(row.instances) + " blocks)";
      body += words(kLeft, y + 12, title, "class=\"name\"");
      body += words(kLeft, y + 28, shortened(row.text, 140), is_fault(row) ? "class=\"fault\"" : "class=\"small\"");
      body += strip("pages lie on", row.lies, y + 36);
      body += strip("used from", row.used, y + 36 + kStripHeight);
      if (row.expected_remote >= 0) body += strip("static schedule", row.expected, y + 36 + 2 * kStripHeight);
      y += kRowHeight;
    }
    if (report.arrays.empty()) {
      body += words(kLeft, y + 12, "no arrays", "class=\"small\"");
      y += 28;
    }
    y += 12;
  }
  const std::string height = number(y + 12);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(kWidth) + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + std::to_string(kWidth) + " " + height +
         "\">\n"
         "<style>text{font-family:sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}.name{font-size:13px;"
         "font-weight:bold}.small{font-size:11px}.fault{font-size:11px;fill:#b00020}</style>\n"
         "<defs><pattern id=\"several\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
         "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#bbb\"/><rect width=\"3\" height=\"6\" "
         "fill=\"#666\"/></pattern></defs>\n" +
         rectangle(0, 0, kWidth, y + 12, "#ffffff") + body + "</svg>\n";
}

}  // namespace weft::tools::numa
