/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef LAB_CORE_H
#define LAB_CORE_H

#include <linux/netdevice.h>

int lab_core_pass(struct sk_buff *skb, struct net_device *to);

#endif
