#include "group/no_mpi.cc"
