// The formats that fixed-column files state, and fields read by them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include <krysol/io/harwell_boeing/fortran_format.hpp>

namespace {

using krysol::FortranFormat;
using Kind = FortranFormat::Kind;

std::string read(const std::string& text) {
  std::string wrong;
  const auto format = krysol::parse_fortran_format(text, wrong);
  return format ? format->text() : wrong;
}

TEST(FortranFormat, IsReadInTheSpellingsThatFilesHave) {
  EXPECT_EQ(read("(16I5)"), "(16I5)");
  EXPECT_EQ(read("  ( 2 0 i 4 )  "), "(20I4)");
  EXPECT_EQ(read("(I6)"), "(1I6)");
  EXPECT_EQ(read("(10I8.3)"), "(10I8)");
  EXPECT_EQ(read("(4E20.12)"), "(4E20.12)");
  EXPECT_EQ(read("(1P,4E20.12)"), "(1P,4E20.12)");
  EXPECT_EQ(read("(1P4E16.9)"), "(1P,4E16.9)");
  EXPECT_EQ(read("(-2p,5f8.3)"), "(-2P,5F8.3)");
  EXPECT_EQ(read("(3(D24.15))"), "(3D24.15)");
  EXPECT_EQ(read("(1P,3(E25.16E3))"), "(1P,3E25.16)");
  EXPECT_EQ(read("(3(1PE25.16))"), "(1P,3E25.16)");
  EXPECT_EQ(read("(5G15.7)"), "(5G15.7)");
  EXPECT_EQ(read("(8F10)"), "(8F10.0)");
}

TEST(FortranFormat, SaysWhatIsWrong) {
  EXPECT_EQ(read(""), "a format begins with '('");
  EXPECT_EQ(read("16I5"), "a format begins with '('");
  EXPECT_EQ(read("(16I5"), "one descriptor and ')' were expected");
  EXPECT_EQ(read("(16I5))"), "one descriptor and ')' were expected");
  EXPECT_EQ(read("(16I5,2I3)"), "one descriptor and ')' were expected");
  EXPECT_EQ(read("(16A5)"), "known are I, and E, D, F and G");
  EXPECT_EQ(read("("), "known are I, and E, D, F and G");
  EXPECT_EQ(read("(16)"), "known are I, and E, D, F and G");
  EXPECT_EQ(read("(16I)"), "fields have 1 to 255 columns");
  EXPECT_EQ(read("(16I0)"), "fields have 1 to 255 columns");
  EXPECT_EQ(read("(2E256.3)"), "fields have 1 to 255 columns");
  EXPECT_EQ(read("(4E20.)"), "what follows the point is no number of digits");
  EXPECT_EQ(read("(4E20.999)"), "what follows the point is no number of digits");
  EXPECT_EQ(read("(4E20.12E)"), "what follows is no number of digits");
  EXPECT_EQ(read("(12345I5)"), "a number in it has more than four digits");
  EXPECT_EQ(read("(99999999999I5)"), "a number in it has more than four digits");
  EXPECT_EQ(read("(2(3E5.1))"), "it has more than one descriptor");
  EXPECT_EQ(read("(-4E20.12)"), "it has more than one descriptor");
  EXPECT_EQ(read("(0I5)"), "lines of that many fields make no sense");
  EXPECT_EQ(read("(9999I255)"), "lines of that many fields make no sense");
  EXPECT_EQ(read(std::string("(\0I5)", 5)), "known are I, and E, D, F and G");
}

TEST(FortranFormat, FieldsOfIntegersHoldOneNumberAndBlanks) {
  using krysol::fortran_integer;
  EXPECT_EQ(fortran_integer("   12"), 12);
  EXPECT_EQ(fortran_integer("12   "), 12);
  EXPECT_EQ(fortran_integer(" -7 "), -7);
  EXPECT_EQ(fortran_integer("+7"), 7);
  EXPECT_EQ(fortran_integer("9223372036854775807"), 9223372036854775807LL);
  for (const char* wrong : {"", "   ", "1 2", "1.", "1e3", "+", "-", "+-1", "--1", "x", "0x10",
                            "9223372036854775808", "12 x"}) {
    EXPECT_EQ(fortran_integer(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(fortran_integer(std::string_view("1\0", 2)), std::nullopt);
}

std::optional<double> real(const std::string& field, int digits = 0, int scale = 0) {
  return krysol::fortran_real(field, {Kind::real, 1, 20, digits, scale, 'E'});
}

TEST(FortranFormat, FieldsOfRealsHaveAnExponentOfAnyKind) {
  EXPECT_EQ(real("1.5"), 1.5);
  EXPECT_EQ(real("  -.5 "), -0.5);
  EXPECT_EQ(real("+5."), 5);
  EXPECT_EQ(real("1.5D+03"), 1500);
  EXPECT_EQ(real("1.5d3"), 1500);
  EXPECT_EQ(real("1.5Q-2"), 0.015);
  EXPECT_EQ(real("1.5+103"), 1.5e103);
  EXPECT_EQ(real("1.5-103"), 1.5e-103);
  EXPECT_EQ(real("1.0E 05"), 1e5);
  EXPECT_EQ(real("1.0E+ 5"), std::nullopt);
  EXPECT_EQ(real("0.1234567890123456789012345678901234567890E+01"), 1.2345678901234567);
  EXPECT_EQ(real("1E-999999999999"), 0);
  EXPECT_EQ(real("4.9406564584124654E-324"), 4.9406564584124654e-324);
}

TEST(FortranFormat, APointThatIsNotThereIsWhereTheFormatSays) {
  EXPECT_EQ(real("12345", 3), 12.345);
  EXPECT_EQ(real("-5", 3), -0.005);
  EXPECT_EQ(real("12345E2", 3), 1234.5);
  EXPECT_EQ(real("12.345", 1), 12.345);
}

TEST(FortranFormat, AScaleFactorCountsWhereThereIsNoExponent) {
  EXPECT_EQ(real("15.0", 0, 1), 1.5);
  EXPECT_EQ(real("15.0", 0, -2), 1500);
  EXPECT_EQ(real("15.0E+00", 0, 1), 15);
  EXPECT_EQ(real("12345", 3, 1), 1.2345);
}

TEST(FortranFormat, FieldsThatAreNoNumbersAreNone) {
  for (const char* wrong :
       {"",     "   ",       ".",     "-",    "+.",     "E5",    ".E5",     "1.5E", "1.5E+",
        "1.5+", "1.5E5x",    "1.5x",  "1..5", "1.2.3",  "1 .5",  "1.5 2.5", "nan",  "NaN",
        "inf",  "-Infinity", "0x1p3", "1,5",  "1.5EE5", "1e309", "-1D+400", "***"}) {
    EXPECT_EQ(real(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(real(std::string("1.5\0", 4)), std::nullopt);
}

}  // namespace
