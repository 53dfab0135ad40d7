/* SPDX-License-Identifier: MIT
 *
 * Devices of the QEMU `virt` board that processes drive, and their interrupts: number 0 is the
 * UART, whose output the kernel's console shares, the others are the slots for virtio devices. A
 * source is off while its priority is 0. The controller keeps a source that was claimed from
 * interrupting until the claim is completed. Source: The RISC-V Platform-Level Interrupt Controller
 * Specification.
 */
#include <abi/limits.abi.h>
#include <hal/board.h>
#include <hal/core.h>
#include <hal/device.h>
#include "virt.h"

static volatile uint32_t *
word_at(uint64_t paddr)
{
	return (volatile uint32_t *)hal_device(paddr);
}

static uint64_t
device_base(unsigned number)
{
	return number == 0 ? VIRT_UART : VIRT_VIRTIO + (number - 1) * VIRT_PAGE;
}

static unsigned
device_source(unsigned number)
{
	return number == 0 ? VIRT_UART_INTERRUPT : number;
}

bool
hal_device_find(unsigned number, struct hal_device *d)
{
	if (hal_cluster_id() != 0 || number > VIRT_VIRTIO_SLOTS)
		return false;
	*d = (struct hal_device){.base = device_base(number), .pages = 1,
		.kind = DEVICE_UART_16550};
	if (number == 0)
		return true;
	d->id = *word_at(d->base + VIRTIO_DEVICE_ID);
	d->kind = d->id != 0 ? DEVICE_VIRTIO : DEVICE_NONE;
	return true;
}

void
hal_device_start(unsigned number)
{
	*word_at(PLIC_THRESHOLD) = 0;
	*word_at(PLIC_ENABLE) |= 1u << device_source(number);
	*word_at(PLIC_PRIORITY(device_source(number))) = 1;
}

void
hal_device_done(unsigned number)
{
	__asm__ volatile("fence io, io" : : : "memory");
	*word_at(PLIC_CLAIM) = device_source(number);
}

/* An interrupt that came and was not taken is forgotten: it would be the next driver's. */
static void
source_off(unsigned number)
{
	unsigned source = device_source(number);

	hal_device_done(number);
	*word_at(PLIC_PRIORITY(source)) = PLIC_FIRST;
	if ((*word_at(PLIC_PENDING) >> source & 1) != 0) {
		(void)*word_at(PLIC_CLAIM);
		hal_device_done(number);
	}
	*word_at(PLIC_PRIORITY(source)) = 0;
}

/* A virtio device that is reset is through with all memory. */
void
hal_device_stop(unsigned number)
{
	volatile uint8_t *uart = hal_device(VIRT_UART);

	if (number == 0) {
		uart[UART_LCR] = UART_LCR_8N1;
		uart[UART_IER] = 0;
	} else {
		*word_at(device_base(number) + VIRTIO_STATUS) = 0;
		while (*word_at(device_base(number) + VIRTIO_STATUS) != 0)
			;
	}
	source_off(number);
}

void
hal_board_interrupt(void)
{
	uint32_t source = *word_at(PLIC_CLAIM);

	if (source != 0)
		kernel_interrupt(source == VIRT_UART_INTERRUPT ? 0 : source);
}
