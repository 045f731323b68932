# What the build needs. Each is an imported target; packaging/deps.sh installs
# them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.14)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c>=1.4)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1>=0.2.2)
pkg_check_modules(EVENT REQUIRED IMPORTED_TARGET
  libevent_core>=2.1.12 libevent_openssl>=2.1.12)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
find_program(PROTOC_C NAMES protoc-c REQUIRED)
find_path(PROTOBUF_INCLUDE google/protobuf/timestamp.proto REQUIRED)

if(WD_TESTS)
  # Debian's Check has pkg-config only.
  pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)
endif()
