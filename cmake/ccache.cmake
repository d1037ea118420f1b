# Compile through ccache where it is installed.
find_program(INTARSIA_CCACHE ccache)
if(INTARSIA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${INTARSIA_CCACHE})
endif()
