/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the parts of this object share: one laboratory, and what QEMU has of it. */

/* Frames of an access point of which the guest gets the buffers back together: an interrupt for each only frees memory. */
enum { BUFFERS_TOGETHER = 32 };
/* How long a guest that is to be saved waits for an interrupt endpoint: the shortest intervals are 125 us. */
enum { PATIENCE_NS = 2000000 };
/* Of the library's state, bytes. */
enum { LAB_MAX = 1 << 30 };
enum { RADIO_TX_BUFFERS = 128, RADIO_RX_BUFFERS = 256 };

typedef struct {
    VirtIOSerialPort parent;
    char *config;
} ControlPort;

typedef struct {
    VirtIODevice parent;
    VirtQueue *tx, *rx;
    uint32_t unannounced;
} Radios;

/* Messages of the SD host controller: virtual_mmc_host.c. */
enum { SLOT_VIRTIO_ID = VIRTIO_ID_RPMB, SLOT_QUEUE = 64, SLOT_HEAD = 16, SLOT_FLAGS = 4, SLOT_ANSWERS = 1 };

typedef struct {
    VirtIODevice parent;
    VirtQueue *commands, *lines;
    VirtQueueElement *command; /* that the card has */
    uint8_t sequence[4];       /* its number */
    uint8_t line[SLOT_HEAD];   /* how the interrupt line is, for the guest */
    bool line_changed;
    uint8_t present;
} Slot;

/* A transfer that the library has, and QEMU's host controller not yet: it asks for it again after a guest was restored. */
typedef struct {
    uint64_t packet; /* USBPacket.id: where the host controller found it in the guest's memory */
    uint32_t number;
    uint8_t endpoint, pid;
    bool done; /* it was finished meanwhile */
    Action action;
    uint8_t *data;
} Awaited;

/* Base address registers that a device may have its registers behind; the guest finds one of them. */
enum { BASES = 2 };
static const uint8_t base_numbers[BASES] = { 0, 2 };

typedef struct {
    PCIDevice parent;
    MemoryRegion registers[BASES];
    uint32_t number;
    bool present;
    uint8_t base; /* the base address register that the device has them behind */
} Function;

/* One laboratory to a QEMU. */
static struct {
    Lab *lab;
    QEMUTimer *timer;
    ControlPort *control;
    USBDevice *usb;
    Radios *radios;
    Slot *slot;
    Function *functions[FUNCTIONS_MAX];
    NetClientState *wired;
    GHashTable *pending; /* USBPacket by the number that the library has for it */
    GHashTable *numbers; /* and the other way */
    uint32_t number;
    uint8_t *buffer;
    size_t room;
    bool settling;
    uint64_t armed_ns;
    GQueue awaited;       /* of Awaited, in the order of their numbers */
    bool stop;            /* the guest stops as soon as it can be saved */
    bool anywhere;        /* and waits for no interrupt endpoint any more */
    bool stopped;         /* it has */
    QEMUTimer *patience;
    QEMUTimer *place;     /* where a replay is to stop */
    GQueue early;         /* USBPackets that the host controller has fetched only because the guest was restored */
    bool loaded;          /* a saved guest, which does not run yet */
    uint64_t restored_ns; /* when it continued */
    uint16_t interrupts;  /* IN endpoints that the host asks at intervals, bit by number */
    uint16_t between;     /* those that the host controller has, or may have, a transfer of which was not handed on yet */
} the = { .armed_ns = UINT64_MAX, .awaited = G_QUEUE_INIT, .early = G_QUEUE_INIT, .restored_ns = UINT64_MAX };

static uint64_t now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static uint8_t *room_for(size_t len)
{
    if (the.room < len) {
        the.room = len;
        the.buffer = g_realloc(the.buffer, len);
    }
    return the.buffer;
}
