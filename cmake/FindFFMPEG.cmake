# The libraries of FFmpeg 5 or later that decode video, as FFMPEG::FFMPEG; FFMPEG_FOUND says whether
# all are there. Needs pkg-config.
include(FindPackageHandleStandardArgs)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(FFMPEG_PC QUIET IMPORTED_TARGET
    libavformat>=59 libavcodec>=59 libavutil>=57 libswscale>=6)
endif()
find_package_handle_standard_args(FFMPEG REQUIRED_VARS FFMPEG_PC_LINK_LIBRARIES
                                  VERSION_VAR FFMPEG_PC_libavformat_VERSION)
if(FFMPEG_FOUND AND NOT TARGET FFMPEG::FFMPEG)
  add_library(FFMPEG::FFMPEG INTERFACE IMPORTED)
  target_link_libraries(FFMPEG::FFMPEG INTERFACE PkgConfig::FFMPEG_PC)
endif()
