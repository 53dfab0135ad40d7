// SPDX-License-Identifier: MIT
//
// The result of a run as JSON.
#ifndef HW_SIM_REPORT_H
#define HW_SIM_REPORT_H

#include <string>

#include "watch.h"

struct Outcome {
	std::string end;		// "exit", "cycles", "stuck", "illegal"
	int status;
	uint64_t cycles;
	double seconds;
	std::vector<uint64_t> flits;	// that left each cluster with requests
};

// Write the report; returns "" or what went wrong.
std::string report(const std::string &path, const Outcome &outcome, const Model &model, const Watch &watch, const Symbols &symbols);

#endif
