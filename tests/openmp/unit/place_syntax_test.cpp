// SPDX-License-Identifier: Apache-2.0
// The grammars of OMP_PLACES, GOMP_CPU_AFFINITY and KMP_AFFINITY.
#include "openmp/affinity/place_syntax.h"

#include <gtest/gtest.h>

#include <string>

#include "openmp/affinity/kmp_affinity.h"

namespace {

using namespace weft::openmp;
using weft::platform::Level;

std::string text_of(const PlaceList& places) {
  std::string text(format_places(places, nullptr, 0), ' ');
  format_places(places, text.data(), text.size() + 1);
  return text;
}

std::string text_or_bad(bool good, PlaceList* list) {
  std::string text = good ? text_of(*list) : "bad";
  list->free_memory();
  return text;
}

std::string places(const char* text) {
  PlacesText parsed;
  const bool good = parse_places(text, &parsed);
  return text_or_bad(good && !parsed.abstract, &parsed.list);
}

std::string cpu_affinity(const char* text) {
  PlaceList list;
  const bool good = parse_cpu_affinity(text, &list);
  return text_or_bad(good, &list);
}

TEST(PlaceSyntax, Lists) {
  EXPECT_EQ(places("{0}"), "{0}");
  EXPECT_EQ(places("{0:4}:8:4").substr(0, 21), "{0:4},{4:4},{8:4},{12");
  EXPECT_EQ(places("{0:3:2},{1}"), "{0,2,4},{1}");
  EXPECT_EQ(places("{6:3:-2}"), "{2,4,6}");
  EXPECT_EQ(places("{4}:3:-2"), "{4},{2},{0}");
  EXPECT_EQ(places("{2,0,1}"), "{0:3}");
  EXPECT_EQ(places("3,1:2,{0}"), "{3},{1},{2},{0}");
  EXPECT_EQ(places(" { 0 : 2 } : 2 : 2 , { 9 } "), "{0:2},{2:2},{9}");
  EXPECT_EQ(places("{8191}"), "{8191}");
  EXPECT_EQ(places("{0:2}:1:0"), "{0:2}");
}

TEST(PlaceSyntax, Exclusion) {
  EXPECT_EQ(places("{0:4,!1}"), "{0,2:2}");
  EXPECT_EQ(places("{!1,0:4}"), "{0,2:2}");
  EXPECT_EQ(places("{0}:4,!{2}"), "{0},{1},{3}");
  EXPECT_EQ(places("!{2},{0}:4"), "{0},{1},{3}");
  EXPECT_EQ(places("{0},{1},{0},!{0}"), "{1}");
  EXPECT_EQ(places("{0},!{0}"), "bad");
  EXPECT_EQ(places("{0},!{1}"), "bad");
  EXPECT_EQ(places("{0,!0}"), "bad");
  EXPECT_EQ(places("{0}:4,!{2}:2"), "bad");
}

TEST(PlaceSyntax, Names) {
  struct Case {
    const char* text;
    Level level;
    int most;
  };
  for (const Case& wanted : {Case{"threads", Level::threads, kMostPlaces}, Case{"Cores", Level::cores, kMostPlaces},
                             Case{" sockets ( 2 ) ", Level::sockets, 2}, Case{"ll_caches(1)", Level::ll_caches, 1},
                             Case{"numa_domains(1048576)", Level::numa_domains, kMostPlaces}}) {
    PlacesText parsed;
    EXPECT_TRUE(parse_places(wanted.text, &parsed)) << wanted.text;
    EXPECT_TRUE(parsed.abstract) << wanted.text;
    EXPECT_EQ(parsed.level, wanted.level) << wanted.text;
    EXPECT_EQ(parsed.most, wanted.most) << wanted.text;
  }
}

TEST(PlaceSyntax, BadPlaces) {
  for (const char* text : {"", "{", "}", "{}", "{0", "0}", "{0}}", "{0},", ",{0}", "{0}{1}", "{0:}", "{0:0}", "{0}:0",
                           "{0}::1", "{0:1:}", "{-1}", "{0:2:-1}", "{0}:2:-1", "{8192}", "{8191:2}", "{0}:8193",
                           "{0:99999999999999999999}", "{0}:2:99999999999", "{a}", "{0x1}", "!{0}", "core", "cores()",
                           "cores(0)", "cores(-1)", "cores(1", "cores 1", "cores,{0}", "threadsx", "{0} {1}"}) {
    PlacesText parsed;
    EXPECT_FALSE(parse_places(text, &parsed)) << text;
    parsed.list.free_memory();
  }
}

TEST(PlaceSyntax, CpuAffinity) {
  EXPECT_EQ(cpu_affinity("0 3 1-2 4-15:2"), "{0},{3},{1},{2},{4},{6},{8},{10},{12},{14}");
  EXPECT_EQ(cpu_affinity("3,1"), "{3},{1}");
  EXPECT_EQ(cpu_affinity(" 7 "), "{7}");
  EXPECT_EQ(cpu_affinity("0-3 : 2"), "{0},{2}");
  for (const char* text : {"", "a", "0-", "-1", "2-1", "0-4:0", "0,", ",0", "0-4:-1", "8192", "0;1", "0 - "}) {
    EXPECT_EQ(cpu_affinity(text), "bad") << text;
  }
}

TEST(PlaceSyntax, Formatting) {
  PlacesText parsed;
  ASSERT_TRUE(parse_places("{0:4},{8},{1,3}", &parsed));
  const std::string whole = "{0:4},{8},{1,3}";
  EXPECT_EQ(format_places(parsed.list, nullptr, 0), whole.size());
  for (size_t room = 1; room < whole.size() + 2; ++room) {
    std::string text(whole.size() + 4, '#');
    EXPECT_EQ(format_places(parsed.list, text.data(), room), whole.size());
    EXPECT_EQ(std::string(text.c_str()), whole.substr(0, room - 1)) << room;
    EXPECT_EQ(text[std::min(room, whole.size() + 1)], '#') << room;
  }
  parsed.list.free_memory();
}

TEST(KmpAffinity, Good) {
  using Type = KmpAffinity::Type;
  struct Case {
    const char* text;
    Type type;
    Level granularity;
    int permute;
    int offset;
    bool verbose;
  };
  for (const Case& wanted : {Case{"compact", Type::compact, Level::cores, 0, 0, false},
                             Case{"granularity=fine,Compact,1,2", Type::compact, Level::threads, 1, 2, false},
                             Case{"verbose,scatter,3", Type::scatter, Level::cores, 3, 0, true},
                             Case{"verbose,noverbose,none", Type::none, Level::cores, 0, 0, false},
                             Case{"disabled", Type::none, Level::cores, 0, 0, false},
                             Case{"balanced,2", Type::balanced, Level::cores, 0, 2, false},
                             Case{"explicit,proclist=[0,2-6:2,{1,3-4}],granularity=thread", Type::explicit_,
                                  Level::threads, 0, 0, false},
                             Case{"proclist=[0],explicit", Type::explicit_, Level::cores, 0, 0, false},
                             Case{"respect,nowarnings,physical", Type::scatter, Level::cores, 0, 0, false},
                             Case{"verbose", Type::unset, Level::cores, 0, 0, true}}) {
    KmpAffinity parsed;
    EXPECT_TRUE(parse_kmp_affinity(wanted.text, &parsed)) << wanted.text;
    EXPECT_EQ(parsed.type, wanted.type) << wanted.text;
    EXPECT_EQ(parsed.granularity, wanted.granularity) << wanted.text;
    EXPECT_EQ(parsed.permute, wanted.permute) << wanted.text;
    EXPECT_EQ(parsed.offset, wanted.offset) << wanted.text;
    EXPECT_EQ(parsed.verbose, wanted.verbose) << wanted.text;
    if (parsed.proclist.size() > 1) {
      EXPECT_EQ(text_of(parsed.proclist), "{0},{2},{4},{6},{1,3:2}");
    }
    parsed.proclist.free_memory();
  }
}

TEST(KmpAffinity, Bad) {
  for (const char* text : {"", "dense", "compact,", ",compact", "compact scatter", "compact,scatter", "1", "1,compact",
                           "compact,1,2,3", "granularity=", "granularity", "granularity=tiny,compact", "explicit",
                           "explicit,proclist=", "explicit,proclist=0", "explicit,proclist=[]", "explicit,proclist=[0",
                           "explicit,proclist=[{}]", "explicit,proclist=[{0]", "compact,proclist=[0]", "compact,-1"}) {
    KmpAffinity parsed;
    EXPECT_FALSE(parse_kmp_affinity(text, &parsed)) << text;
    parsed.proclist.free_memory();
  }
}

}  // namespace
