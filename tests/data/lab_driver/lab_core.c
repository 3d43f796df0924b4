// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * First module of the driver that the tests of whole machines build, patch and load: passes frames on. The second one,
 * lab_wire, needs it.
 */
#include <linux/module.h>

#include "lab_core.h"

#define LAB_QUEUE_MODEL "vanilla"

static unsigned long passed;
module_param(passed, ulong, 0444);
MODULE_PARM_DESC(passed, "Frames passed on so far");

static char *model = LAB_QUEUE_MODEL;
module_param(model, charp, 0444);
MODULE_PARM_DESC(model, "Which source this was built from");

int lab_core_pass(struct sk_buff *skb, struct net_device *to)
{
	passed++;
	return dev_forward_skb(to, skb);
}
EXPORT_SYMBOL_GPL(lab_core_pass);

MODULE_DESCRIPTION("Frames of the lab driver");
MODULE_LICENSE("Dual MIT/GPL");
