// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Second module of the driver that the tests of whole machines build, patch and load: two Ethernet interfaces, lab0 and
 * lab1, at the two ends of a wire.
 */
#include <linux/etherdevice.h>
#include <linux/firmware.h>
#include <linux/module.h>

#include "lab_core.h"

static bool oops;
module_param(oops, bool, 0444);
MODULE_PARM_DESC(oops, "Write through a null pointer while it is loaded");

static bool firmware;
module_param(firmware, bool, 0444);
MODULE_PARM_DESC(firmware, "Ask for the firmware lab/wire.bin");

static unsigned int firmware_bytes;
module_param(firmware_bytes, uint, 0444);
MODULE_PARM_DESC(firmware_bytes, "Size of the firmware");

static struct net_device *ends[2];

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct net_device *to = dev == ends[0] ? ends[1] : ends[0];
	unsigned int bytes = skb->len;

	if (lab_core_pass(skb, to) == NET_RX_SUCCESS) {
		dev_sw_netstats_tx_add(dev, 1, bytes);
		dev_sw_netstats_rx_add(to, bytes);
	} else {
		dev->stats.tx_dropped++;
	}
	return NETDEV_TX_OK;
}

static int wire_init(struct net_device *dev)
{
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	return dev->tstats ? 0 : -ENOMEM;
}

static void wire_uninit(struct net_device *dev)
{
	free_percpu(dev->tstats);
}

static const struct net_device_ops wire_ops = {
	.ndo_init = wire_init,
	.ndo_uninit = wire_uninit,
	.ndo_start_xmit = wire_xmit,
	.ndo_get_stats64 = dev_get_tstats64,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_mac_address = eth_mac_addr,
};

static void wire_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &wire_ops;
	eth_hw_addr_random(dev);
}

static int wire_load_firmware(void)
{
	const struct firmware *found;
	int error = request_firmware(&found, "lab/wire.bin", &ends[0]->dev);

	if (error)
		return error;
	firmware_bytes = found->size;
	release_firmware(found);
	return 0;
}

static void wire_remove(int count)
{
	while (count-- > 0) {
		unregister_netdev(ends[count]);
		free_netdev(ends[count]);
	}
}

static int __init wire_load(void)
{
	int error, i;

	if (oops)
		WRITE_ONCE(*(volatile int *)NULL, 1);
	for (i = 0; i < 2; i++) {
		ends[i] = alloc_netdev(0, "lab%d", NET_NAME_ENUM, wire_setup);
		error = ends[i] ? register_netdev(ends[i]) : -ENOMEM;
		if (error) {
			if (ends[i])
				free_netdev(ends[i]);
			wire_remove(i);
			return error;
		}
	}
	error = firmware ? wire_load_firmware() : 0;
	if (error)
		wire_remove(2);
	return error;
}

static void __exit wire_unload(void)
{
	wire_remove(2);
}

module_init(wire_load);
module_exit(wire_unload);
MODULE_DESCRIPTION("Two Ethernet interfaces at the ends of a wire");
MODULE_LICENSE("Dual MIT/GPL");
