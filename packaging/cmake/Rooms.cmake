# wd_room(NAME SOURCES... USES ROOMS-OR-LIBRARIES...): one room of the house, a
# static library wd_NAME without process state. The arrows between rooms are
# stated here for the linker and in agent/README.md for people; the layer lint
# holds the includes against the latter.
function(wd_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;PRIVATE_USES" ${ARGN})
  add_library(wd_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(wd_${name}
    PUBLIC ${ROOM_USES}
    PRIVATE $<BUILD_INTERFACE:wd_flags> ${ROOM_PRIVATE_USES})
endfunction()

# wd_program(NAME SOURCES... USES...): an executable of ours.
function(wd_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE ${PROGRAM_USES} wd_flags)
endfunction()
