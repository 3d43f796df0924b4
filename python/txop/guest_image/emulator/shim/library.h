/* SPDX-License-Identifier: GPL-2.0-or-later
 * The library of the devices: its types and functions. crates/qemu/src/abi.rs has the same. */

enum { TXOP_ABI = 6 };
enum {
    TXOP_NONE, TXOP_FINISHED, TXOP_ATTACH, TXOP_DETACH, TXOP_REPLY, TXOP_INSERT, TXOP_PULL_OUT, TXOP_APPEAR, TXOP_VANISH,
    TXOP_STOP,
};
/* crates/vusb/src/pci.rs */
enum { FUNCTIONS_MAX = 8, IDENTITY_LEN = 12, REGISTERS_LEN = 0x10000 };

typedef struct Lab Lab;

typedef struct {
    uint32_t kind, id;
    int32_t status;
    uint32_t actual;
    const uint8_t *data;
    size_t len;
} Action;

typedef struct {
    uint32_t id, length;
    uint8_t endpoint;
    bool is_in, at_once;
    uint8_t setup[8];
} Transfer;

typedef struct {
    uint8_t number;
    bool is_in;
    uint8_t transfer;
    uint16_t max_packet;
} Endpoint;

int txop_abi(void);
Lab *txop_open(const char *config);
void txop_close(Lab *, uint64_t now_ns);
void txop_control(Lab *, uint64_t now_ns, const uint8_t *, size_t);
bool txop_transfer(Lab *, uint64_t now_ns, const Transfer *, const uint8_t *, size_t, Action *done);
void txop_cancel(Lab *, uint64_t now_ns, uint32_t id);
void txop_reset(Lab *, uint64_t now_ns);
void txop_advance(Lab *, uint64_t now_ns);
uint64_t txop_next(Lab *);
uint64_t txop_guest_ns(Lab *, uint64_t now_ns);
bool txop_has_actions(Lab *);
void txop_action(Lab *, Action *);
size_t txop_endpoints(Lab *, Endpoint *, size_t room);
void txop_from_radios(Lab *, uint64_t now_ns, const uint8_t *, size_t);
const uint8_t *txop_to_radios(Lab *, size_t *);
void txop_from_slot(Lab *, uint64_t now_ns, const uint8_t *, size_t);
const uint8_t *txop_to_slot(Lab *, size_t *);
void txop_memory(Lab *, void (*read)(uint32_t, uint64_t, uint8_t *, size_t),
                 void (*write)(uint32_t, uint64_t, const uint8_t *, size_t));
uint32_t txop_read(Lab *, uint64_t now_ns, uint32_t function, uint32_t offset, uint32_t bytes);
void txop_write(Lab *, uint64_t now_ns, uint32_t function, uint32_t offset, uint32_t bytes, uint32_t value);
uint32_t txop_interrupts(Lab *);
void txop_from_wired(Lab *, uint64_t now_ns, const uint8_t *, size_t);
const uint8_t *txop_to_wired(Lab *, size_t *);
const uint8_t *txop_save(Lab *, size_t *);
bool txop_restore(Lab *, const uint8_t *, size_t);
