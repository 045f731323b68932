# Two flag sets, as targets: wd_flags for our code, wd_generated_flags for what
# protoc-c wrote. Nothing is set globally.
add_library(wd_flags INTERFACE)
target_compile_features(wd_flags INTERFACE c_std_11)
target_include_directories(wd_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/agent ${PROJECT_SOURCE_DIR}/proto
  ${PROJECT_SOURCE_DIR}/client ${PROJECT_SOURCE_DIR}/include)
target_compile_options(wd_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wundef -Wvla
  -Wformat=2 -Wimplicit-fallthrough -Wswitch-enum -Wnull-dereference
  -fno-strict-aliasing -fstack-protector-strong)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # gcc does not stop a jump over a scoped variable by itself.
  target_compile_options(wd_flags INTERFACE -Wjump-misses-init)
endif()
if(WD_WERROR)
  target_compile_options(wd_flags INTERFACE -Werror)
endif()
target_compile_definitions(wd_flags INTERFACE
  WD_VERSION="${PROJECT_VERSION}"
  $<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  target_compile_definitions(wd_flags INTERFACE _GNU_SOURCE)
endif()

add_library(wd_generated_flags INTERFACE)
target_compile_options(wd_generated_flags INTERFACE -w)

add_library(wd_instrument INTERFACE)
if(WD_SANITIZE)
  target_compile_options(wd_instrument INTERFACE
    -fsanitize=${WD_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(wd_instrument INTERFACE -fsanitize=${WD_SANITIZE})
endif()
if(WD_COVERAGE)
  target_compile_options(wd_instrument INTERFACE --coverage)
  target_link_options(wd_instrument INTERFACE --coverage)
endif()
if(WD_FUZZ)
  target_compile_options(wd_instrument INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_link_libraries(wd_flags INTERFACE wd_instrument)
target_link_libraries(wd_generated_flags INTERFACE wd_instrument)
