# SPDX-License-Identifier: MIT
"""What build systems compile and link, and never run, to see whether a function is there."""

# functions, and whether they are implemented
PROBED = (("MPI_File_open", False), ("MPI_Win_create", False), ("MPI_Comm_spawn", False),
          ("MPI_Put_c", False), ("MPI_T_init_thread", False),
          ("MPI_Send", True), ("MPI_Ineighbor_alltoallw_c", True), ("MPI_Type_struct", True))

# what autoconf's AC_CHECK_FUNC compiles
AC_CHECK_FUNC = """#define {name} innocuous_{name}
#include <limits.h>
#undef {name}
#ifdef __cplusplus
extern "C"
#endif
char {name} (void);
#if defined __stub_{name} || defined __stub___{name}
choke me
#endif
int
main (void)
{{
return {name} ();
  ;
  return 0;
}}
"""

# what CMake's check_function_exists compiles, where cmake is not there
CHECK_FUNCTION_EXISTS = """#ifdef __cplusplus
extern "C"
#endif
char {name}(void);
int main(int ac, char *av[])
{{
  {name}();
  if (ac > 1000) {{
    return *av[0];
  }}
  return 0;
}}
"""
ADDRESS = "#include <mpi.h>\nint main(void)\n{{\n\tvoid *volatile f = (void *){name};\n\treturn f == 0;\n}}\n"
