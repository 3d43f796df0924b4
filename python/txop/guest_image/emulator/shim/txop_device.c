/* SPDX-License-Identifier: GPL-2.0-or-later
 * txop's devices as devices of QEMU. This object is preloaded into an unmodified QEMU, compiled against the headers of
 * exactly that QEMU. The devices themselves are in a library of Rust (crates/qemu), behind the functions below; what is
 * here translates between the two, and holds no state of a device.
 *
 *   txop-control     a port of virtio-serial: the guest asks for what is to be done with the device, line by line
 *   txop-usb         the device, on a USB bus
 *   txop-hwsim-pci   the virtio transport of Linux' mac80211_hwsim (drivers/net/wireless/virtual/mac80211_hwsim.c)
 *   txop-mmc-pci     an SD host controller, for the module virtual_mmc_host
 *   txop-pci         a function of the device, on PCI; an empty slot until the device is one that is on PCI
 *   netdev "wired"   the far end of a network function, for a virtio-net device
 *
 * Everything runs in the thread of the guest's processor, or in one timer of QEMU_CLOCK_VIRTUAL. */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "qemu/iov.h"
#include "qom/object.h"
#include "qapi/error.h"
#include "hw/pci/pci_device.h"
#include "hw/usb.h"
#include "hw/usb/hcd-xhci.h"
#include "hw/qdev-properties.h"
#include "hw/virtio/virtio.h"
#include "hw/virtio/virtio-pci.h"
#include "hw/virtio/virtio-serial.h"
#include "migration/qemu-file-types.h"
#include "migration/vmstate.h"
#include "net/net.h"
#include "system/cpus.h"
#include "system/runstate.h"
#include "system/system.h"
#include "standard-headers/linux/virtio_ids.h"

/* The functions of the library; crates/qemu/src/abi.rs has the same. */
enum { TXOP_ABI = 4 };
enum {
    TXOP_NONE, TXOP_FINISHED, TXOP_ATTACH, TXOP_DETACH, TXOP_REPLY, TXOP_INSERT, TXOP_PULL_OUT, TXOP_APPEAR, TXOP_VANISH,
    TXOP_STOP,
};
/* crates/vusb/src/pci.rs */
enum { FUNCTIONS_MAX = 8, IDENTITY_LEN = 11, REGISTERS_LEN = 0x10000 };

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
bool txop_has_actions(Lab *);
void txop_action(Lab *, Action *);
size_t txop_endpoints(Lab *, Endpoint *, size_t room);
void txop_from_radios(Lab *, uint64_t now_ns, const uint8_t *, size_t);
const uint8_t *txop_to_radios(Lab *, size_t *);
void txop_from_slot(Lab *, uint64_t now_ns, const uint8_t *, size_t);
const uint8_t *txop_to_slot(Lab *, size_t *);
void txop_memory(Lab *, void (*read)(uint32_t, uint64_t, uint8_t *, size_t),
                 void (*write)(uint32_t, uint64_t, const uint8_t *, size_t));
uint32_t txop_read(Lab *, uint64_t now_ns, uint32_t function, uint32_t offset);
void txop_write(Lab *, uint64_t now_ns, uint32_t function, uint32_t offset, uint32_t value);
uint32_t txop_interrupts(Lab *);
void txop_from_wired(Lab *, uint64_t now_ns, const uint8_t *, size_t);
const uint8_t *txop_to_wired(Lab *, size_t *);
const uint8_t *txop_save(Lab *, size_t *);
bool txop_restore(Lab *, const uint8_t *, size_t);

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

typedef struct {
    PCIDevice parent;
    MemoryRegion registers;
    uint32_t number;
    bool present;
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

/* --- what the library wants to be done --- */

static void give_radios(void)
{
    Radios *radios = the.radios;
    const uint8_t *message;
    size_t len;
    bool any = false;

    if (!radios || !virtio_queue_ready(radios->rx)) {
        while (txop_to_radios(the.lab, &len)) {
            /* nobody is there */
        }
        return;
    }
    while (!virtio_queue_empty(radios->rx) && (message = txop_to_radios(the.lab, &len))) {
        VirtQueueElement *element = virtqueue_pop(radios->rx, sizeof *element);
        if (!element) {
            break;
        }
        virtqueue_push(radios->rx, element, iov_from_buf(element->in_sg, element->in_num, 0, message, len));
        g_free(element);
        any = true;
    }
    if (any) {
        virtio_notify(VIRTIO_DEVICE(radios), radios->rx);
    }
}

static void give_slot(void)
{
    Slot *slot = the.slot;
    VirtQueueElement *element;
    const uint8_t *message;
    size_t len;

    while ((message = txop_to_slot(the.lab, &len))) {
        if (!slot || len < SLOT_HEAD) {
            continue;
        }
        if (!(message[SLOT_FLAGS] & SLOT_ANSWERS)) {
            memcpy(slot->line, message, SLOT_HEAD);
            slot->line_changed = true;
        } else if (slot->command && !memcmp(message, slot->sequence, sizeof slot->sequence)) {
            element = slot->command;
            slot->command = NULL;
            virtqueue_push(slot->commands, element, iov_from_buf(element->in_sg, element->in_num, 0, message, len));
            g_free(element);
            virtio_notify(VIRTIO_DEVICE(slot), slot->commands);
        }
    }
    if (slot && slot->line_changed && virtio_queue_ready(slot->lines) &&
        (element = virtqueue_pop(slot->lines, sizeof *element))) {
        slot->line_changed = false;
        virtqueue_push(slot->lines, element, iov_from_buf(element->in_sg, element->in_num, 0, slot->line, SLOT_HEAD));
        g_free(element);
        virtio_notify(VIRTIO_DEVICE(slot), slot->lines);
    }
}

static void card_is_in(bool present)
{
    Slot *slot = the.slot;

    if (!slot) {
        return;
    }
    if (slot->command) { /* an answer to no command */
        virtqueue_push(slot->commands, slot->command, 0);
        g_free(slot->command);
        slot->command = NULL;
        virtio_notify(VIRTIO_DEVICE(slot), slot->commands);
    }
    slot->line_changed = false;
    slot->present = present;
    virtio_notify_config(VIRTIO_DEVICE(slot));
}

static void give_wired(void)
{
    const uint8_t *frame;
    size_t len;

    while ((frame = txop_to_wired(the.lab, &len))) {
        if (the.wired) {
            qemu_send_packet(the.wired, frame, len);
        }
    }
}

static void give_interrupts(void)
{
    uint32_t wanted = txop_interrupts(the.lab);

    for (size_t i = 0; i < FUNCTIONS_MAX; i++) {
        Function *function = the.functions[i];
        if (function) {
            pci_set_irq(&function->parent, wanted >> i & 1);
        }
    }
}

/* Who the functions are; the guest finds them when it looks at its bus again. */
static void appear(const uint8_t *identities, size_t len)
{
    for (size_t i = 0; i < FUNCTIONS_MAX; i++) {
        Function *function = the.functions[i];
        const uint8_t *id = identities + i * IDENTITY_LEN;
        if (!function) {
            continue;
        }
        function->present = (i + 1) * IDENTITY_LEN <= len;
        if (function->present) {
            uint8_t *config = function->parent.config;
            pci_device_reset(&function->parent);
            pci_set_word(config + PCI_VENDOR_ID, lduw_le_p(id));
            pci_set_word(config + PCI_DEVICE_ID, lduw_le_p(id + 2));
            pci_set_word(config + PCI_SUBSYSTEM_VENDOR_ID, lduw_le_p(id + 4));
            pci_set_word(config + PCI_SUBSYSTEM_ID, lduw_le_p(id + 6));
            pci_set_byte(config + PCI_REVISION_ID, id[8]);
            pci_set_word(config + PCI_CLASS_DEVICE, id[9] << 8 | id[10]);
        }
    }
}

static int status_of(int32_t linux_error)
{
    switch (linux_error) {
    case 0:
        return USB_RET_SUCCESS;
    case -EPIPE:
        return USB_RET_STALL;
    case -EOVERFLOW:
        return USB_RET_BABBLE;
    default:
        return USB_RET_IOERROR;
    }
}

/* Puts what became of a transfer into its packet. */
static void fill(USBPacket *packet, const Action *done)
{
    bool control = packet->ep->nr == 0;

    packet->status = status_of(done->status);
    if (control) {
        size_t fits = MIN(done->len, sizeof the.usb->data_buf);
        if (done->len) {
            memcpy(the.usb->data_buf, done->data, fits);
        }
        packet->actual_length = done->len ? fits : done->actual;
    } else if (packet->pid == USB_TOKEN_IN) {
        if (done->len) {
            usb_packet_copy(packet, (void *)done->data, MIN(done->len, packet->iov.size));
        }
    } else {
        packet->actual_length = MIN(done->actual, packet->iov.size);
    }
}

/* The host controller keeps a transfer of an interrupt endpoint to itself until the next interval. */
static void note_interrupt(const USBPacket *packet, bool between)
{
    uint16_t bit = packet->pid == USB_TOKEN_IN ? the.interrupts & 1 << packet->ep->nr : 0;

    the.between = between ? the.between | bit : the.between & ~bit;
}

static void forget(USBPacket *packet)
{
    gpointer number = g_hash_table_lookup(the.numbers, packet);

    g_hash_table_remove(the.pending, number);
    g_hash_table_remove(the.numbers, packet);
}

/* What became of a transfer that the host controller did not ask for again yet. */
static void keep_for_later(const Action *done)
{
    for (GList *at = the.awaited.head; at; at = at->next) {
        Awaited *awaited = at->data;
        if (awaited->number == done->id && !awaited->done) {
            awaited->done = true;
            awaited->data = g_memdup2(done->data, done->len);
            awaited->action = *done;
            awaited->action.data = awaited->data;
            return;
        }
    }
}

static void drop_awaited(gpointer opaque)
{
    g_free(((Awaited *)opaque)->data);
    g_free(opaque);
}

static void finished(const Action *done)
{
    USBPacket *packet = g_hash_table_lookup(the.pending, GUINT_TO_POINTER(done->id));

    if (!packet) {
        keep_for_later(done);
        return;
    }
    forget(packet);
    fill(packet, done);
    note_interrupt(packet, true);
    if (packet->ep->nr == 0) {
        usb_generic_async_ctrl_complete(the.usb, packet);
    } else {
        usb_packet_complete(the.usb, packet);
    }
}

/* QEMU lets no transfer of an interrupt endpoint wait for its device; when the host asks is its own affair (hcd-xhci.c) */
static const uint8_t transfer_types[] = {
    USB_ENDPOINT_XFER_CONTROL, USB_ENDPOINT_XFER_ISOC, USB_ENDPOINT_XFER_BULK, USB_ENDPOINT_XFER_BULK,
};

/* The device's endpoints, as QEMU has to know them. */
static void describe(void)
{
    USBDevice *usb = the.usb;
    Endpoint endpoints[30];
    size_t count = txop_endpoints(the.lab, endpoints, ARRAY_SIZE(endpoints));

    usb->speedmask = 1 << usb->speed;
    usb_ep_init(usb);
    the.interrupts = 0;
    for (size_t i = 0; i < count; i++) {
        int pid = endpoints[i].is_in ? USB_TOKEN_IN : USB_TOKEN_OUT;
        usb_ep_set_type(usb, pid, endpoints[i].number, transfer_types[endpoints[i].transfer & 3]);
        usb_ep_set_max_packet_size(usb, pid, endpoints[i].number, endpoints[i].max_packet);
        usb_ep_set_ifnum(usb, pid, endpoints[i].number, 0);
        usb_ep_get(usb, pid, endpoints[i].number)->pipeline = true;
        if (endpoints[i].transfer == USB_ENDPOINT_XFER_INT && endpoints[i].is_in) {
            the.interrupts |= 1 << endpoints[i].number;
        }
    }
}

static void attach(int32_t linux_speed)
{
    static const uint8_t speeds[] = {
        USB_SPEED_HIGH, USB_SPEED_LOW, USB_SPEED_FULL, USB_SPEED_HIGH, USB_SPEED_HIGH, USB_SPEED_SUPER,
    };
    Error *error = NULL;

    if (!the.usb) {
        return;
    }
    the.usb->speed = linux_speed >= 0 && linux_speed < (int)ARRAY_SIZE(speeds) ? speeds[linux_speed] : USB_SPEED_HIGH;
    describe();
    the.between = 0;
    usb_device_attach(the.usb, &error);
    if (error) {
        error_reportf_err(error, "txop-usb: ");
    }
}

static void detach(void)
{
    if (the.usb && the.usb->attached) {
        usb_device_detach(the.usb);
    }
    g_hash_table_remove_all(the.pending);
    g_hash_table_remove_all(the.numbers);
    g_queue_clear_full(&the.awaited, drop_awaited);
    g_queue_clear(&the.early);
    the.between = 0;
}

static void do_action(const Action *action)
{
    switch (action->kind) {
    case TXOP_FINISHED:
        finished(action);
        break;
    case TXOP_ATTACH:
        attach(action->status);
        break;
    case TXOP_DETACH:
        detach();
        break;
    case TXOP_INSERT:
        card_is_in(true);
        break;
    case TXOP_PULL_OUT:
        card_is_in(false);
        break;
    case TXOP_STOP:
        the.stop = true;
        timer_mod_ns(the.patience, now() + PATIENCE_NS);
        break;
    case TXOP_APPEAR:
        appear(action->data, action->len);
        break;
    case TXOP_VANISH:
        appear(NULL, 0);
        break;
    case TXOP_REPLY:
        virtio_serial_write(VIRTIO_SERIAL_PORT(the.control), action->data, action->len);
        break;
    }
}

/* The timer is set once, at the end: with the processor halted, each setting moves the clock. */
static void arm(void)
{
    uint64_t next = txop_has_actions(the.lab) ? now() : txop_next(the.lab);

    if (next == UINT64_MAX) {
        if (the.armed_ns != UINT64_MAX) {
            timer_del(the.timer);
        }
    } else if (next != the.armed_ns) {
        timer_mod_ns(the.timer, MAX(next, now()));
    }
    the.armed_ns = next;
}

static bool an_interrupt_waits(void)
{
    for (int i = 0; the.interrupts && i < USB_MAX_ENDPOINTS; i++) {
        if (the.interrupts >> (i + 1) & 1 && !QTAILQ_EMPTY(&the.usb->ep_in[i].queue)) {
            return true;
        }
    }
    return false;
}

/* The guest stops where all transfers that the host wants are here: the host controller does not save those that it has.
 * Nor does it save in which interval it was at an interrupt endpoint last: the moment when it is there is the best one. */
static void stop_if_asked(bool at_interrupt)
{
    if (!the.stop || the.between || the.awaited.length || !(at_interrupt || the.anywhere || !an_interrupt_waits())) {
        return;
    }
    the.stop = the.anywhere = false;
    the.stopped = true;
    timer_del(the.patience);
    if (qemu_in_vcpu_thread()) {
        vm_stop(RUN_STATE_PAUSED);
    } else { /* before the processor goes on, but not in the middle of a transfer */
        qemu_system_vmstop_request_prepare();
        qemu_system_vmstop_request(RUN_STATE_PAUSED);
    }
}

static void out_of_patience(void *opaque)
{
    the.anywhere = true;
    stop_if_asked(false);
}

/* After anything that happened from outside of the USB bus. */
static void settle(void)
{
    Action action;

    if (the.settling) {
        return;
    }
    the.settling = true;
    do {
        for (txop_action(the.lab, &action); action.kind != TXOP_NONE; txop_action(the.lab, &action)) {
            do_action(&action);
        }
        give_radios();
        give_slot();
        give_wired();
        give_interrupts();
    } while (txop_has_actions(the.lab));
    the.settling = false;
    arm();
    stop_if_asked(false);
}

/* After a callback of the USB bus, inside of which no other transfer may end: that is for the timer, at once. */
static void settle_later(bool at_interrupt)
{
    if (!the.settling) {
        give_radios();
        give_wired();
        arm();
        stop_if_asked(at_interrupt);
    }
}

static void due(void *opaque)
{
    the.armed_ns = UINT64_MAX;
    if (the.lab) {
        txop_advance(the.lab, now());
        settle();
    }
}

/* --- the device on PCI --- */

/* Only RAM: a register of a device would be an access from inside of one. */
static bool function_dma(uint32_t number, uint64_t address, void *data, size_t len, DMADirection direction)
{
    Function *function = number < FUNCTIONS_MAX ? the.functions[number] : NULL;
    MemTxAttrs ram = { .memory = 1 };

    return function && function->present &&
           pci_dma_rw(&function->parent, address, data, len, direction, ram) == MEMTX_OK;
}

static void function_reads(uint32_t number, uint64_t address, uint8_t *data, size_t len)
{
    if (!function_dma(number, address, data, len, DMA_DIRECTION_TO_DEVICE)) {
        memset(data, 0xff, len);
    }
}

static void function_writes(uint32_t number, uint64_t address, const uint8_t *data, size_t len)
{
    function_dma(number, address, (void *)data, len, DMA_DIRECTION_FROM_DEVICE);
}

static uint64_t function_register_read(void *opaque, hwaddr offset, unsigned size)
{
    Function *function = opaque;
    uint32_t value = the.lab ? txop_read(the.lab, now(), function->number, offset) : UINT32_MAX;

    if (the.lab) {
        settle();
    }
    return value;
}

static void function_register_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    Function *function = opaque;

    if (the.lab) {
        txop_write(the.lab, now(), function->number, offset, value);
        settle();
    }
}

static const MemoryRegionOps register_operations = {
    .read = function_register_read,
    .write = function_register_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* An empty slot reads as ones. */
static uint32_t function_config_read(PCIDevice *device, uint32_t address, int len)
{
    return ((Function *)device)->present ? pci_default_read_config(device, address, len) : UINT32_MAX;
}

static void function_config_write(PCIDevice *device, uint32_t address, uint32_t value, int len)
{
    if (((Function *)device)->present) {
        pci_default_write_config(device, address, value, len);
    }
}

static void function_realize(PCIDevice *device, Error **errp)
{
    Function *function = (Function *)device;

    if (function->number >= FUNCTIONS_MAX || the.functions[function->number]) {
        error_setg(errp, "txop-pci needs a number of its own below %d", FUNCTIONS_MAX);
        return;
    }
    the.functions[function->number] = function;
    /* who it is comes with the device, and so with a saved guest */
    memset(device->cmask + PCI_VENDOR_ID, 0, 4);
    memset(device->cmask + PCI_REVISION_ID, 0, 4);
    memset(device->cmask + PCI_SUBSYSTEM_VENDOR_ID, 0, 4);
    pci_config_set_interrupt_pin(device->config, 1);
    memory_region_init_io(&function->registers, OBJECT(device), &register_operations, function, "txop-pci",
                          REGISTERS_LEN);
    pci_register_bar(device, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &function->registers);
}

static const Property function_properties[] = {
    DEFINE_PROP_UINT32("number", Function, number, 0),
};

static const VMStateDescription function_state = {
    .name = "txop-pci",
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent, Function),
        VMSTATE_BOOL(present, Function),
        VMSTATE_END_OF_LIST()
    },
};

static void function_class(ObjectClass *class, void *data)
{
    PCIDeviceClass *pci = PCI_DEVICE_CLASS(class);

    pci->realize = function_realize;
    pci->config_read = function_config_read;
    pci->config_write = function_config_write;
    pci->vendor_id = PCI_VENDOR_ID_REDHAT; /* until the device has others */
    pci->class_id = PCI_CLASS_OTHERS;
    DEVICE_CLASS(class)->hotpluggable = false;
    DEVICE_CLASS(class)->vmsd = &function_state;
    device_class_set_props(DEVICE_CLASS(class), function_properties);
}

static const InterfaceInfo function_interfaces[] = { { INTERFACE_CONVENTIONAL_PCI_DEVICE }, {} };

/* --- the control port --- */

static void close_lab(Notifier *notifier, void *data)
{
    if (the.lab) {
        txop_close(the.lab, now());
        the.lab = NULL;
    }
}

static Notifier at_exit = { .notify = close_lab };

static ssize_t control_data(VirtIOSerialPort *port, const uint8_t *data, ssize_t len)
{
    txop_control(the.lab, now(), data, len);
    settle();
    return len;
}

static ssize_t wired_data(NetClientState *client, const uint8_t *data, size_t len)
{
    if (the.lab) {
        txop_from_wired(the.lab, now(), data, len);
        settle();
    }
    return len;
}

static NetClientInfo wired_info = {
    .type = NET_CLIENT_DRIVER_USER,
    .size = sizeof(NetClientState),
    .receive = wired_data,
};

/* --- saved and restored --- */

/* Puts the host controller's place in the guest's memory back to the first transfer that waits, so that a restored one finds
 * it again; QEMU's own keeps what it has read already to itself (hcd-xhci.c, usb_xhci_post_load). The guest asks for this
 * place only after it has stopped the endpoint, and then it is written anew. */
static void rewind_endpoint(XHCIState *xhci, USBEndpoint *endpoint, int number)
{
    USBPacket *packet = QTAILQ_FIRST(&endpoint->queue);
    dma_addr_t context = xhci->slots[the.usb->addr - 1].ctx + 32 * number;
    uint32_t control, place[2];

    if (packet) {
        address_space_rw(xhci->as, packet->id + 12, MEMTXATTRS_UNSPECIFIED, &control, sizeof control, false);
        place[0] = cpu_to_le32((uint32_t)packet->id | (le32_to_cpu(control) & 1));
        place[1] = cpu_to_le32(packet->id >> 32);
        address_space_rw(xhci->as, context + 8, MEMTXATTRS_UNSPECIFIED, place, sizeof place, true);
    }
}

static void state_changed(void *opaque, bool running, RunState state)
{
    USBDevice *usb = the.usb;

    if (running) {
        the.stopped = false;
        if (the.loaded) {
            the.loaded = false;
            the.restored_ns = now();
        }
        if (the.lab) {
            arm();
        }
    } else if (the.stopped && usb && usb->attached && usb->addr && usb->addr <= XHCI_MAXSLOTS) {
        XHCIState *xhci = usb->port->opaque;
        rewind_endpoint(xhci, &usb->ep_ctl, 1);
        for (int i = 0; i < USB_MAX_ENDPOINTS; i++) {
            rewind_endpoint(xhci, &usb->ep_out[i], 2 * (i + 1));
            rewind_endpoint(xhci, &usb->ep_in[i], 2 * (i + 1) + 1);
        }
    }
}

static void put_awaited(QEMUFile *file, uint64_t packet, uint32_t number, uint8_t endpoint, uint8_t pid)
{
    qemu_put_be64(file, packet);
    qemu_put_be32(file, number);
    qemu_put_byte(file, endpoint);
    qemu_put_byte(file, pid);
}

static int lab_put(QEMUFile *file, void *opaque, size_t size, const VMStateField *field, JSONWriter *description)
{
    size_t len;
    const uint8_t *bytes = txop_save(the.lab, &len);
    GHashTableIter pending;
    gpointer number, packet;

    if (!bytes) {
        return -ENOTSUP;
    }
    qemu_put_be64(file, len);
    qemu_put_buffer(file, bytes, len);
    qemu_put_be32(file, the.number);
    qemu_put_be32(file, the.between);
    qemu_put_be32(file, g_hash_table_size(the.pending) + the.awaited.length);
    for (g_hash_table_iter_init(&pending, the.pending); g_hash_table_iter_next(&pending, &number, &packet);) {
        USBPacket *of = packet;
        put_awaited(file, of->id, GPOINTER_TO_UINT(number), of->ep->nr, of->ep->pid);
    }
    for (GList *at = the.awaited.head; at; at = at->next) {
        Awaited *awaited = at->data;
        put_awaited(file, awaited->packet, awaited->number, awaited->endpoint, awaited->pid);
    }
    return 0;
}

static int lab_get(QEMUFile *file, void *opaque, size_t size, const VMStateField *field)
{
    size_t len = qemu_get_be64(file);
    g_autofree uint8_t *bytes = len <= LAB_MAX ? g_malloc(len) : NULL;

    if (!bytes || qemu_get_buffer(file, bytes, len) != len || !txop_restore(the.lab, bytes, len)) {
        return -EINVAL;
    }
    the.loaded = true;
    the.number = qemu_get_be32(file);
    the.between = qemu_get_be32(file);
    for (uint32_t left = qemu_get_be32(file); left; left--) {
        Awaited *awaited = g_new0(Awaited, 1);
        awaited->packet = qemu_get_be64(file);
        awaited->number = qemu_get_be32(file);
        awaited->endpoint = qemu_get_byte(file);
        awaited->pid = qemu_get_byte(file);
        g_queue_push_tail(&the.awaited, awaited);
    }
    return 0;
}

static const VMStateInfo lab_info = { .name = "txop", .get = lab_get, .put = lab_put };

static const VMStateDescription control_state = {
    .name = "txop-control",
    .fields = (const VMStateField[]) {
        { .name = "lab", .size = 1, .info = &lab_info, .flags = VMS_SINGLE },
        VMSTATE_END_OF_LIST()
    },
};

static void control_realize(DeviceState *device, Error **errp)
{
    ControlPort *port = (ControlPort *)device;

    if (the.lab || txop_abi() != TXOP_ABI || !port->config) {
        error_setg(errp, the.lab ? "there is one txop-control already"
                         : port->config ? "the library is of another version than txop_device.c"
                                        : "txop-control needs config=FILE");
        return;
    }
    the.lab = txop_open(port->config);
    if (!the.lab) {
        error_setg(errp, "%s cannot be used", port->config);
        return;
    }
    the.control = port;
    txop_memory(the.lab, function_reads, function_writes);
    the.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, due, NULL);
    the.patience = timer_new_ns(QEMU_CLOCK_VIRTUAL, out_of_patience, NULL);
    the.pending = g_hash_table_new(NULL, NULL);
    the.numbers = g_hash_table_new(NULL, NULL);
    the.wired = qemu_new_net_client(&wired_info, NULL, "txop", "wired");
    virtio_serial_open(&port->parent);
    qemu_add_exit_notifier(&at_exit);
    qemu_add_vm_change_state_handler(state_changed, NULL);
}

static const Property control_properties[] = {
    DEFINE_PROP_STRING("config", ControlPort, config),
};

static void control_class(ObjectClass *class, void *data)
{
    VirtIOSerialPortClass *port = VIRTIO_SERIAL_PORT_CLASS(class);

    port->realize = control_realize;
    port->have_data = control_data;
    DEVICE_CLASS(class)->hotpluggable = false;
    DEVICE_CLASS(class)->vmsd = &control_state;
    device_class_set_props(DEVICE_CLASS(class), control_properties);
}

/* --- the device on its bus --- */

static void usb_reset_port(USBDevice *usb)
{
    txop_reset(the.lab, now());
    settle_later(false);
}

/* Whether the library has a transfer already, from before the guest was saved. */
static bool was_awaited(USBPacket *packet)
{
    for (GList *at = the.awaited.head; at; at = at->next) {
        Awaited *awaited = at->data;
        if (awaited->packet != packet->id || awaited->endpoint != packet->ep->nr || awaited->pid != packet->ep->pid) {
            continue;
        }
        if (awaited->done) {
            fill(packet, &awaited->action);
            note_interrupt(packet, true);
        } else {
            g_hash_table_insert(the.pending, GUINT_TO_POINTER(awaited->number), packet);
            g_hash_table_insert(the.numbers, packet, GUINT_TO_POINTER(awaited->number));
            packet->status = USB_RET_ASYNC;
        }
        g_queue_delete_link(&the.awaited, at);
        drop_awaited(awaited);
        return true;
    }
    return false;
}

/* Hands a transfer on; its packet says what became of it, or that it waits. */
static void transfer(USBPacket *packet, Transfer *wanted, const uint8_t *data, size_t len)
{
    Action done;

    note_interrupt(packet, false);
    if (was_awaited(packet)) {
        return;
    }
    if (now() == the.restored_ns && packet->ep->nr) {
        g_queue_push_tail(&the.early, packet);
        packet->status = USB_RET_ASYNC;
        return;
    }
    do {
        wanted->id = ++the.number;
    } while (!wanted->id || g_hash_table_contains(the.pending, GUINT_TO_POINTER(wanted->id)));
    wanted->endpoint = packet->ep->nr;
    wanted->at_once = QTAILQ_EMPTY(&packet->ep->queue);
    if (txop_transfer(the.lab, now(), wanted, data, len, &done)) {
        fill(packet, &done);
        note_interrupt(packet, true);
    } else {
        g_hash_table_insert(the.pending, GUINT_TO_POINTER(wanted->id), packet);
        g_hash_table_insert(the.numbers, packet, GUINT_TO_POINTER(wanted->id));
        packet->status = USB_RET_ASYNC;
    }
    settle_later(packet->pid == USB_TOKEN_IN && the.interrupts >> packet->ep->nr & 1);
}

static void usb_control(USBDevice *usb, USBPacket *packet, int request, int value, int index, int length, uint8_t *data)
{
    Transfer wanted = {
        .is_in = request >> 8 & USB_DIR_IN,
        .length = length,
        .setup = { request >> 8, request, value, value >> 8, index, index >> 8, length, length >> 8 },
    };

    if (request == (DeviceOutRequest | USB_REQ_SET_ADDRESS)) { /* the host controller's own */
        usb->addr = value;
        return;
    }
    transfer(packet, &wanted, data, wanted.is_in ? 0 : length);
}

static void usb_data(USBDevice *usb, USBPacket *packet)
{
    size_t len = packet->iov.size;
    Transfer wanted = { .is_in = packet->pid == USB_TOKEN_IN, .length = len };

    if (wanted.is_in) {
        transfer(packet, &wanted, NULL, 0);
    } else {
        uint8_t *buffer = room_for(MAX(len, 1));
        iov_to_buf(packet->iov.iov, packet->iov.niov, 0, buffer, len);
        transfer(packet, &wanted, buffer, len);
    }
}

static void usb_cancelled(USBDevice *usb, USBPacket *packet)
{
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(the.numbers, packet));

    g_queue_remove(&the.early, packet);
    if (number) {
        forget(packet);
        txop_cancel(the.lab, now(), number);
        settle_later(false);
    }
}

/* The host controller has looked for more. A restored one has found more at once, as it keeps a transfer that is finished
 * until it has looked (hcd-xhci.c, xhci_complete and xhci_ep_alloc_xfer): the device gets that now. */
static void usb_looked(USBDevice *usb, USBEndpoint *endpoint)
{
    GList *at = now() == the.restored_ns ? NULL : the.early.head;

    while (at) {
        USBPacket *packet = at->data;
        GList *next = at->next;
        if (packet->ep == endpoint) {
            g_queue_delete_link(&the.early, at);
            usb_data(usb, packet);
        }
        at = next;
    }
}

static void usb_stopped(USBDevice *usb, USBEndpoint *endpoint)
{
    GList *at = the.awaited.head;

    if (endpoint->pid == USB_TOKEN_IN) {
        the.between &= ~(1 << endpoint->nr);
    }
    while (at) {
        Awaited *awaited = at->data;
        GList *next = at->next;
        if (awaited->endpoint == endpoint->nr && awaited->pid == endpoint->pid) {
            txop_cancel(the.lab, now(), awaited->number);
            g_queue_delete_link(&the.awaited, at);
            drop_awaited(awaited);
        }
        at = next;
    }
}

static void usb_realized(USBDevice *usb, Error **errp)
{
    if (!the.lab || the.usb) {
        error_setg(errp, the.usb ? "there is one txop-usb already" : "txop-control comes before txop-usb");
        return;
    }
    the.usb = usb;
    usb->auto_attach = 0;
    usb->speed = USB_SPEED_HIGH;
    usb->speedmask = USB_SPEED_MASK_HIGH;
}

static int usb_loaded(void *opaque, int version)
{
    if (the.usb->attached) {
        describe();
    }
    return 0;
}

static const VMStateDescription usb_state = {
    .name = "txop-usb",
    .post_load = usb_loaded,
    .fields = (const VMStateField[]) {
        { .name = "device", .size = sizeof(USBDevice), .vmsd = &vmstate_usb_device, .flags = VMS_STRUCT },
        VMSTATE_INT32(speed, USBDevice),
        VMSTATE_END_OF_LIST()
    },
};

static void usb_class(ObjectClass *class, void *data)
{
    USBDeviceClass *usb = USB_DEVICE_CLASS(class);

    usb->realize = usb_realized;
    usb->product_desc = "txop device";
    usb->handle_reset = usb_reset_port;
    usb->handle_control = usb_control;
    usb->handle_data = usb_data;
    usb->cancel_packet = usb_cancelled;
    usb->ep_stopped = usb_stopped;
    usb->flush_ep_queue = usb_looked;
    DEVICE_CLASS(class)->vmsd = &usb_state;
    DEVICE_CLASS(class)->hotpluggable = false;
}

/* --- mac80211_hwsim over virtio --- */

#define TYPE_RADIOS "txop-hwsim-device"

static void radios_tx(VirtIODevice *device, VirtQueue *queue)
{
    Radios *radios = (Radios *)device;
    VirtQueueElement *element;
    bool any = false;

    while ((element = virtqueue_pop(queue, sizeof *element))) {
        /* a buffer is the whole area of a frame: the message begins with its length */
        size_t size = iov_size(element->out_sg, element->out_num);
        uint32_t len = 0;
        iov_to_buf(element->out_sg, element->out_num, 0, &len, sizeof len);
        len = MIN(le32_to_cpu(len), size);
        uint8_t *buffer = room_for(MAX(len, 1));
        iov_to_buf(element->out_sg, element->out_num, 0, buffer, len);
        if (the.lab) {
            txop_from_radios(the.lab, now(), buffer, len);
        }
        virtqueue_push(queue, element, 0);
        g_free(element);
        any = true;
    }
    if (any && ++radios->unannounced >= BUFFERS_TOGETHER) {
        radios->unannounced = 0;
        virtio_notify(device, queue);
    }
    if (the.lab) {
        settle();
    }
}

static void radios_rx(VirtIODevice *device, VirtQueue *queue)
{
    if (the.lab) {
        settle();
    }
}

static uint64_t radios_features(VirtIODevice *device, uint64_t features, Error **errp)
{
    return features;
}

static void radios_realize(DeviceState *device, Error **errp)
{
    Radios *radios = (Radios *)device;

    virtio_init(&radios->parent, VIRTIO_ID_MAC80211_HWSIM, 0);
    radios->tx = virtio_add_queue(&radios->parent, RADIO_TX_BUFFERS, radios_tx);
    radios->rx = virtio_add_queue(&radios->parent, RADIO_RX_BUFFERS, radios_rx);
    the.radios = radios;
}

static void radios_unrealize(DeviceState *device)
{
    the.radios = NULL;
    virtio_cleanup(VIRTIO_DEVICE(device));
}

static const VMStateDescription radios_more = {
    .name = "txop-hwsim/device",
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(unannounced, Radios),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription radios_state = {
    .name = "txop-hwsim",
    .fields = (const VMStateField[]) {
        VMSTATE_VIRTIO_DEVICE,
        VMSTATE_END_OF_LIST()
    },
};

static void radios_class(ObjectClass *class, void *data)
{
    VirtioDeviceClass *virtio = VIRTIO_DEVICE_CLASS(class);

    virtio->realize = radios_realize;
    virtio->unrealize = radios_unrealize;
    virtio->get_features = radios_features;
    virtio->vmsd = &radios_more;
    DEVICE_CLASS(class)->vmsd = &radios_state;
}

typedef struct {
    VirtIOPCIProxy parent;
    Radios radios;
} RadiosPci;

static void radios_pci_realize(VirtIOPCIProxy *proxy, Error **errp)
{
    RadiosPci *pci = (RadiosPci *)proxy;

    proxy->nvectors = 3;
    /* what the guest writes is handled in its own thread, at its own time */
    proxy->flags &= ~VIRTIO_PCI_FLAG_USE_IOEVENTFD;
    qdev_realize(DEVICE(&pci->radios), BUS(&proxy->bus), errp);
}

static void radios_pci_class(ObjectClass *class, void *data)
{
    VIRTIO_PCI_CLASS(class)->realize = radios_pci_realize;
    PCI_DEVICE_CLASS(class)->class_id = PCI_CLASS_OTHERS;
}

static void radios_pci_init(Object *object)
{
    RadiosPci *pci = (RadiosPci *)object;

    virtio_instance_init_common(object, &pci->radios, sizeof pci->radios, TYPE_RADIOS);
}

static const VirtioPCIDeviceTypeInfo radios_pci_info = {
    .generic_name = "txop-hwsim-pci",
    .instance_size = sizeof(RadiosPci),
    .instance_init = radios_pci_init,
    .class_init = radios_pci_class,
};

/* --- an SD host controller --- */

#define TYPE_SLOT "txop-mmc-device"

static void slot_command(VirtIODevice *device, VirtQueue *queue)
{
    Slot *slot = (Slot *)device;
    VirtQueueElement *element;

    while (!slot->command && (element = virtqueue_pop(queue, sizeof *element))) {
        size_t len = iov_size(element->out_sg, element->out_num);
        uint8_t *buffer = room_for(MAX(len, 1));
        iov_to_buf(element->out_sg, element->out_num, 0, buffer, len);
        slot->command = element;
        if (the.lab && slot->present) {
            memcpy(slot->sequence, buffer, MIN(len, sizeof slot->sequence));
            txop_from_slot(the.lab, now(), buffer, len);
            settle();
        } else { /* an answer to no command: nobody is there */
            slot->command = NULL;
            virtqueue_push(queue, element, 0);
            g_free(element);
            virtio_notify(device, queue);
        }
    }
}

static void slot_lines(VirtIODevice *device, VirtQueue *queue)
{
    if (the.lab) {
        settle();
    }
}

static void slot_config(VirtIODevice *device, uint8_t *config)
{
    config[0] = ((Slot *)device)->present;
}

static void slot_reset(VirtIODevice *device)
{
    Slot *slot = (Slot *)device;

    if (slot->command) {
        virtqueue_detach_element(slot->commands, slot->command, 0);
        g_free(slot->command);
        slot->command = NULL;
    }
}

static void slot_realize(DeviceState *device, Error **errp)
{
    Slot *slot = (Slot *)device;

    virtio_init(&slot->parent, SLOT_VIRTIO_ID, 1);
    slot->commands = virtio_add_queue(&slot->parent, SLOT_QUEUE, slot_command);
    slot->lines = virtio_add_queue(&slot->parent, SLOT_QUEUE, slot_lines);
    the.slot = slot;
}

static void slot_unrealize(DeviceState *device)
{
    the.slot = NULL;
    virtio_cleanup(VIRTIO_DEVICE(device));
}

/* The command that the card has is in the guest's memory. */
static void slot_save(VirtIODevice *device, QEMUFile *file)
{
    Slot *slot = (Slot *)device;

    qemu_put_buffer(file, slot->sequence, sizeof slot->sequence);
    qemu_put_buffer(file, slot->line, sizeof slot->line);
    qemu_put_byte(file, slot->line_changed);
    qemu_put_byte(file, slot->present);
    qemu_put_byte(file, slot->command != NULL);
    if (slot->command) {
        qemu_put_virtqueue_element(device, file, slot->command);
    }
}

static int slot_load(VirtIODevice *device, QEMUFile *file, int version)
{
    Slot *slot = (Slot *)device;

    qemu_get_buffer(file, slot->sequence, sizeof slot->sequence);
    qemu_get_buffer(file, slot->line, sizeof slot->line);
    slot->line_changed = qemu_get_byte(file);
    slot->present = qemu_get_byte(file);
    slot->command = qemu_get_byte(file) ? qemu_get_virtqueue_element(device, file, sizeof *slot->command) : NULL;
    return 0;
}

static const VMStateDescription slot_state = {
    .name = "txop-mmc",
    .fields = (const VMStateField[]) {
        VMSTATE_VIRTIO_DEVICE,
        VMSTATE_END_OF_LIST()
    },
};

static void slot_class(ObjectClass *class, void *data)
{
    VirtioDeviceClass *virtio = VIRTIO_DEVICE_CLASS(class);

    virtio->realize = slot_realize;
    virtio->unrealize = slot_unrealize;
    virtio->get_features = radios_features;
    virtio->get_config = slot_config;
    virtio->reset = slot_reset;
    virtio->save = slot_save;
    virtio->load = slot_load;
    DEVICE_CLASS(class)->vmsd = &slot_state;
}

typedef struct {
    VirtIOPCIProxy parent;
    Slot slot;
} SlotPci;

static void slot_pci_realize(VirtIOPCIProxy *proxy, Error **errp)
{
    proxy->nvectors = 3;
    proxy->flags &= ~VIRTIO_PCI_FLAG_USE_IOEVENTFD;
    qdev_realize(DEVICE(&((SlotPci *)proxy)->slot), BUS(&proxy->bus), errp);
}

static void slot_pci_class(ObjectClass *class, void *data)
{
    VIRTIO_PCI_CLASS(class)->realize = slot_pci_realize;
    PCI_DEVICE_CLASS(class)->class_id = PCI_CLASS_OTHERS;
}

static void slot_pci_init(Object *object)
{
    virtio_instance_init_common(object, &((SlotPci *)object)->slot, sizeof(Slot), TYPE_SLOT);
}

static const VirtioPCIDeviceTypeInfo slot_pci_info = {
    .generic_name = "txop-mmc-pci",
    .instance_size = sizeof(SlotPci),
    .instance_init = slot_pci_init,
    .class_init = slot_pci_class,
};

static const TypeInfo types[] = {
    { .name = "txop-pci", .parent = TYPE_PCI_DEVICE, .instance_size = sizeof(Function), .class_init = function_class,
      .interfaces = (InterfaceInfo *)function_interfaces },
    { .name = "txop-control", .parent = TYPE_VIRTIO_SERIAL_PORT, .instance_size = sizeof(ControlPort), .class_init = control_class },
    { .name = "txop-usb", .parent = TYPE_USB_DEVICE, .instance_size = sizeof(USBDevice), .class_init = usb_class },
    { .name = TYPE_RADIOS, .parent = TYPE_VIRTIO_DEVICE, .instance_size = sizeof(Radios), .class_init = radios_class },
    { .name = TYPE_SLOT, .parent = TYPE_VIRTIO_DEVICE, .instance_size = sizeof(Slot), .class_init = slot_class },
};

static void register_types(void)
{
    type_register_static_array(types, ARRAY_SIZE(types));
    virtio_pci_types_register(&radios_pci_info);
    virtio_pci_types_register(&slot_pci_info);
}

__attribute__((constructor)) static void begin(void)
{
    register_module_init(register_types, MODULE_INIT_QOM);
}
