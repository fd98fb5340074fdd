# Stands for a Kokkos of another version than the one Flashpad was built with.
set(Kokkos_DEVICES OPENMP SERIAL)
if(NOT TARGET Kokkos::kokkos)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  target_include_directories(Kokkos::kokkos INTERFACE ${CMAKE_CURRENT_LIST_DIR})
endif()
