/* Between linux_queues.c, which is the kernel's code, and linux_queues.cc, which replays scenarios. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum linux_kind { LINUX_CODEL, LINUX_FQ_CODEL, LINUX_FQ_MAC };

/* Stations of LINUX_FQ_MAC. */
#define LINUX_TINS 4

struct linux_settings {
	uint64_t target_us, interval_us;
	uint32_t packets, flows, quantum_bytes, drop_batch, memory_bytes, spared_bytes, ecn;
};

struct linux_packet {
	uint32_t id, bytes, memory_bytes, hash;
	int ecn_capable, marked;
};

void linux_make(enum linux_kind kind, const struct linux_settings *settings);
void linux_enqueue(uint64_t now_ns, uint32_t tin, const struct linux_packet *packet);
/* The next packet of a tin (of the whole where there are none); 0: none. */
int linux_dequeue(uint64_t now_ns, uint32_t tin, struct linux_packet *packet);
/* Called for each packet that is dropped. */
void linux_dropped(uint32_t id);

#ifdef __cplusplus
}
#endif
