// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A driver of nobody's kernel, for tests of drivers that their users build: it takes the virtual RTL8188CUS, finds one open
 * network on its channel, and is associated as soon as it is told to. It sends nothing, and its radio does not leave the first
 * network namespace: it lacks WIPHY_FLAG_NETNS_OK, as most drivers without mac80211 do.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/usb.h>
#include <net/cfg80211.h>

#ifndef STILL_CHANNEL
#error "STILL_CHANNEL is not set: give the channel of the network"
#endif

static int answer = 42;
module_param(answer, int, 0444);
MODULE_PARM_DESC(answer, "A parameter to set");

struct still {
	struct wiphy *wiphy;
	struct wireless_dev wdev;
	struct net_device *netdev;
	struct cfg80211_scan_request *request;
	struct delayed_work found;
	struct work_struct joined;
};

static const u8 BSSID[ETH_ALEN] = { 2, 0, 0, 0, 0x57, 0x11 };
static const u8 NETWORK[] = { WLAN_EID_SSID, 8, 't', 'x', 'o', 'p', '-', 'l', 'a', 'b' };

static struct ieee80211_channel channels[] = {
	{ .band = NL80211_BAND_2GHZ, .hw_value = STILL_CHANNEL, .center_freq = 2407 + 5 * STILL_CHANNEL, .max_power = 20 },
};
static struct ieee80211_rate rates[] = { { .bitrate = 10 }, { .bitrate = 20 }, { .bitrate = 55 }, { .bitrate = 110 } };
static struct ieee80211_supported_band band = {
	.band = NL80211_BAND_2GHZ,
	.channels = channels,
	.n_channels = ARRAY_SIZE(channels),
	.bitrates = rates,
	.n_bitrates = ARRAY_SIZE(rates),
};

static struct still *of_wiphy(struct wiphy *wiphy)
{
	return *(struct still **)wiphy_priv(wiphy);
}

static void still_tell(struct still *still)
{
	struct cfg80211_bss *bss = cfg80211_inform_bss(still->wiphy, &channels[0], CFG80211_BSS_FTYPE_PRESP, BSSID, 0,
						       WLAN_CAPABILITY_ESS, 100, NETWORK, sizeof(NETWORK), -4500,
						       GFP_KERNEL);

	if (bss)
		cfg80211_put_bss(still->wiphy, bss);
}

static void still_found(struct work_struct *work)
{
	struct still *still = container_of(work, struct still, found.work);
	struct cfg80211_scan_info info = { .aborted = false };

	still_tell(still);
	if (still->request)
		cfg80211_scan_done(still->request, &info);
	still->request = NULL;
}

static void still_joined(struct work_struct *work)
{
	struct still *still = container_of(work, struct still, joined);

	still_tell(still);
	cfg80211_connect_result(still->netdev, BSSID, NULL, 0, NULL, 0, WLAN_STATUS_SUCCESS, GFP_KERNEL);
	netif_carrier_on(still->netdev);
}

static int still_scan(struct wiphy *wiphy, struct cfg80211_scan_request *request)
{
	struct still *still = of_wiphy(wiphy);

	if (still->request)
		return -EBUSY;
	still->request = request;
	schedule_delayed_work(&still->found, HZ / 10);
	return 0;
}

static int still_connect(struct wiphy *wiphy, struct net_device *netdev, struct cfg80211_connect_params *how)
{
	schedule_work(&of_wiphy(wiphy)->joined);
	return 0;
}

static int still_disconnect(struct wiphy *wiphy, struct net_device *netdev, u16 reason)
{
	netif_carrier_off(netdev);
	cfg80211_disconnected(netdev, reason, NULL, 0, true, GFP_KERNEL);
	return 0;
}

static const struct cfg80211_ops still_ops = {
	.scan = still_scan,
	.connect = still_connect,
	.disconnect = still_disconnect,
};

static netdev_tx_t still_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	netdev->stats.tx_packets++;
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops still_netdev_ops = { .ndo_start_xmit = still_xmit };

static int still_probe(struct usb_interface *interface, const struct usb_device_id *id)
{
	struct wiphy *wiphy = wiphy_new(&still_ops, sizeof(struct still *));
	struct net_device *netdev = alloc_netdev(sizeof(struct still), "wlan%d", NET_NAME_ENUM, ether_setup);
	struct still *still;
	int error = -ENOMEM;

	if (!wiphy || !netdev)
		goto out;
	still = netdev_priv(netdev);
	*(struct still **)wiphy_priv(wiphy) = still;
	still->wiphy = wiphy;
	still->netdev = netdev;
	INIT_DELAYED_WORK(&still->found, still_found);
	INIT_WORK(&still->joined, still_joined);
	wiphy->bands[NL80211_BAND_2GHZ] = &band;
	wiphy->max_scan_ssids = 1;
	wiphy->signal_type = CFG80211_SIGNAL_TYPE_MBM;
	wiphy->interface_modes = BIT(NL80211_IFTYPE_STATION);
	wiphy->flags &= ~WIPHY_FLAG_NETNS_OK;
	set_wiphy_dev(wiphy, &interface->dev);
	error = wiphy_register(wiphy);
	if (error)
		goto out;
	still->wdev.wiphy = wiphy;
	still->wdev.iftype = NL80211_IFTYPE_STATION;
	still->wdev.netdev = netdev;
	netdev->ieee80211_ptr = &still->wdev;
	netdev->netdev_ops = &still_netdev_ops;
	SET_NETDEV_DEV(netdev, &interface->dev);
	eth_hw_addr_random(netdev);
	netif_carrier_off(netdev);
	error = register_netdev(netdev);
	if (error) {
		wiphy_unregister(wiphy);
		goto out;
	}
	usb_set_intfdata(interface, still);
	return 0;
out:
	if (netdev)
		free_netdev(netdev);
	if (wiphy)
		wiphy_free(wiphy);
	return error;
}

static void still_gone(struct usb_interface *interface)
{
	struct still *still = usb_get_intfdata(interface);
	struct wiphy *wiphy = still->wiphy;
	struct cfg80211_scan_info info = { .aborted = true };

	cancel_delayed_work_sync(&still->found);
	cancel_work_sync(&still->joined);
	if (still->request)
		cfg80211_scan_done(still->request, &info);
	still->request = NULL;
	unregister_netdev(still->netdev);
	wiphy_unregister(wiphy);
	free_netdev(still->netdev);
	wiphy_free(wiphy);
}

static const struct usb_device_id still_devices[] = { { USB_DEVICE(0x7392, 0x7811) }, { } };
MODULE_DEVICE_TABLE(usb, still_devices);

static struct usb_driver still_driver = {
	.name = "still",
	.probe = still_probe,
	.disconnect = still_gone,
	.id_table = still_devices,
};
module_usb_driver(still_driver);

MODULE_DESCRIPTION("A radio that stays where it is");
MODULE_LICENSE("Dual MIT/GPL");
