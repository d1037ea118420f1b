# cmake --install puts the library, its headers and a package for find_package(intarsia) in place.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/intarsia)
install(TARGETS intarsia EXPORT intarsiaTargets FILE_SET HEADERS)
install(EXPORT intarsiaTargets NAMESPACE intarsia:: DESTINATION ${package_dir})
# What the static library needs: consumers link it, and so must find it.
set(INTARSIA_USES_MPI OFF)
if(MPI_C_FOUND)
  set(INTARSIA_USES_MPI ON)
endif()
set(INTARSIA_USES_LCMS2 OFF)
if(INTARSIA_LCMS AND LCMS2_FOUND)
  set(INTARSIA_USES_LCMS2 ON)
  install(FILES cmake/FindLCMS2.cmake DESTINATION ${package_dir})
endif()
configure_package_config_file(cmake/intarsiaConfig.cmake.in intarsiaConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(intarsiaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/intarsiaConfig.cmake
              ${PROJECT_BINARY_DIR}/intarsiaConfigVersion.cmake
        DESTINATION ${package_dir})
if(INTARSIA_BUILD_APP)
  install(TARGETS intarsia_app)
endif()
