// SPDX-License-Identifier: MIT
//
// A clock gate: a latch that is transparent while the clock is low, and an AND. `on` is what the enable was when the clock rose:
// the gated clock has exactly the edges for which `on` is true, and no glitches.

module clockgate (
	input  logic clk,
	input  logic enable,
	output logic on,
	output logic gclk
);

	always_ff @(negedge clk)
		on <= enable;

	assign gclk = clk & on;

endmodule
