# Power of one core's netlist: same clock and same activity for every core, so that only their order and ratios mean something.
read_liberty cells.lib
read_verilog core.v
link_design core_top
create_clock -name clk -period 20 clk
set_power_activity -global -activity 0.1
report_power
exit
