// SPDX-License-Identifier: MIT
//
// Which of the defects of tools/rtl/defects.py is on, from the environment; 0 is none. Only
// simulators for controls include it.
#ifndef HW_TEST_DEFECT_H
#define HW_TEST_DEFECT_H

#include <cstdlib>

inline const int hw_defect = getenv("HW_DEFECT") ? atoi(getenv("HW_DEFECT")) : 0;

#endif
