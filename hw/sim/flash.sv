// SPDX-License-Identifier: MIT
//
// A model of a data cache that can be emptied at once, for measuring: the core's own invalidates one set per write of DCBIR, and is not ours to
// change. A write of DCBIR with bit 0 set clears the tags of all sets, in the two memories that hold them, by reaching into them: the
// valid bits of a real one would be flip-flops. It takes as long as the core takes for one set.

module flash (
	input logic clk,
	input logic now			// the write is there; it ends in the next cycle at the earliest
);

	localparam int SETS = 128;
	logic again;

	always @(posedge clk) begin
		again <= now;
		if (now | again)
			for (int i = 0; i < SETS; i++) begin
				tag_ram.mem[i] <= '0;
				genblk5.snoop_tag_ram.mem[i] <= '0;
			end
	end

endmodule

bind mor1kx_dcache flash flash (.clk, .now(invalidate & spr_bus_dat_i[0]));
