# Options that every target of this project compiles with; none of them is exported.
function(intarsia_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wno-unknown-pragmas
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # gcc 12's false alarms inside std::string
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-stringop-overread
      -Wno-restrict -Wno-array-bounds)
  endif()
  if(INTARSIA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(INTARSIA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${INTARSIA_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${INTARSIA_SANITIZE})
    if(INTARSIA_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=undefined)
    endif()
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
endfunction()

# An executable that sees the library's internal headers and shares its precompiled header.
function(intarsia_executable target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE intarsia::intarsia nlohmann_json::nlohmann_json)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  intarsia_options(${target})
  if(INTARSIA_PCH)
    target_precompile_headers(${target} REUSE_FROM intarsia)
  endif()
endfunction()
