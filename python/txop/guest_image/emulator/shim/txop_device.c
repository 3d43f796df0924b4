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
#include "qemu/cutils.h"
#include "qemu/timer.h"
#include "qemu/iov.h"
#include "qom/object.h"
#include "qapi/error.h"
#include "hw/pci/pci_device.h"
#include "hw/usb.h"
#include "hw/usb/hcd-xhci.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "hw/virtio/virtio.h"
#include "hw/virtio/virtio-pci.h"
#include "hw/virtio/virtio-serial.h"
#include "migration/qemu-file-types.h"
#include "migration/vmstate.h"
#include "net/net.h"
#include "system/cpus.h"
#include "system/cpu-timers.h"
#include "system/replay.h"
#include "system/runstate.h"
#include "system/system.h"
#include "standard-headers/linux/virtio_ids.h"

#include "library.h"
#include "state.h"
#include "outputs.c.inc"
#include "transfers.c.inc"
#include "events.c.inc"
#include "pci.c.inc"
#include "saved.c.inc"
#include "replay.c.inc"
#include "control.c.inc"
#include "usb.c.inc"
#include "radios.c.inc"
#include "slot.c.inc"

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
