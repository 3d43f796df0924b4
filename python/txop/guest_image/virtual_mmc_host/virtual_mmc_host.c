// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtual MMC/SD host controller for SDIO cards. The card is outside of this computer, which is a virtual one: commands
 * and answers pass a virtio device. Its number is one that Linux has no driver for: QEMU knows a list of numbers. What a
 * host of silicon does with a command besides (time on the wires, interrupts) is done here. All numbers are little endian.
 *
 * queue 0: a command and the data that it writes, then room for the answer and the data that it reads
 *	command: 0 u32 sequence, 4 u8 command, 5 u8 lines, 6 u8 high speed, 7 u8 how often the card got power (modulo 256),
 *	8 u32 argument, 12 u32 clock (Hz), 16 u16 bytes of a block (0: no data), 18 u16 0, 20 u32 bytes that follow
 *	answer: 0 u32 sequence, 4 u8 flags (bit 0: this answers the command, bit 1: the interrupt line is up),
 *	5 u8 errors (bit 0 command, 1 data, 2 CRC, 3 timeout), 6 u16 0, 8 u32 response, 12 u32 bytes that follow
 * queue 1: room for answers that answer no command: the interrupt line has changed
 * configuration: 0 u8 a card is in the slot
 */
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/mmc/card.h>
#include <linux/mmc/core.h>
#include <linux/mmc/host.h>
#include <linux/mmc/mmc.h>
#include <linux/mmc/sdio_func.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/version.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>
#include <linux/workqueue.h>

#define LINE_BUFFERS		8

#define BLOCK_BYTES_MAX		2048
#define BLOCKS_MAX		511
#define DATA_BYTES_MAX		(BLOCK_BYTES_MAX * BLOCKS_MAX)
/* CMD53, SDIO Simplified Specification 3.00, 5.3 */
#define IO_RW_EXTENDED		53

/* The clocks of a command: crates/wire/src/sdio/clocks.rs */
#define CLOCKS_COMMAND		(48 + 8 + 48 + 8)
#define CLOCKS_EXTENDED		(CLOCKS_COMMAND + 2)
#define CLOCKS_BLOCK		(1 + 16 + 1)
#define CLOCKS_CRC_STATUS	7

static char *interrupts = "thread";
module_param(interrupts, charp, 0444);
MODULE_PARM_DESC(interrupts, "thread: the host has SDIO interrupts, the core's thread handles them; work: its work queue does; poll: the host has none");
static unsigned int segments = 16;
module_param(segments, uint, 0444);
MODULE_PARM_DESC(segments, "segments of a scatter list at most (1 to 128)");
static bool bus_time;
module_param(bus_time, bool, 0444);
MODULE_PARM_DESC(bus_time, "a command takes its clocks, at the clock and over the lines that are set");
static unsigned int pio_bytes;
module_param(pio_bytes, uint, 0444);
MODULE_PARM_DESC(pio_bytes, "PIO: an interrupt for this many bytes, which the processor then copies; 0: DMA. Takes bus_time");
static unsigned int timeout_ms = 5000;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "a card that has not answered by then is given up");

static unsigned long commands, signals, pio_interrupts, timeouts;
module_param(commands, ulong, 0444);
MODULE_PARM_DESC(commands, "counter: commands");
module_param(signals, ulong, 0444);
MODULE_PARM_DESC(signals, "counter: interrupts of cards that the core was notified of");
module_param(pio_interrupts, ulong, 0444);
MODULE_PARM_DESC(pio_interrupts, "counter: interrupts that moved data");
module_param(timeouts, ulong, 0444);
MODULE_PARM_DESC(timeouts, "counter: commands that the card did not answer in time");

struct command_head {
	__le32 sequence;
	u8 number, lines, high_speed, power_ups;
	__le32 argument;
	__le32 clock_hz;
	__le16 block_bytes;
	__le16 reserved;
	__le32 len;
} __packed;

struct answer_head {
	__le32 sequence;
	u8 flags, errors;
	__le16 reserved;
	__le32 response;
	__le32 len;
} __packed;

#define ANSWERS		0x01
#define LINE_UP		0x02
#define BAD_COMMAND	0x01
#define BAD_DATA	0x02
#define BAD_CRC		0x04

enum stage {
	IDLE,
	SENDING,	/* what it writes is on the wires */
	WAITING,	/* the card has it */
	RECEIVING,	/* the answer is on the wires */
};

struct controller;

struct slot {
	struct mmc_host *mmc;
	struct controller *controller;
	struct mmc_request *request;	/* this and all below: under the controller's lock */
	enum stage stage;
	u32 sequence;
	u8 power_ups;
	bool powered, gone, enabled, line;
	struct hrtimer wires;
	ktime_t tick;
	u32 ticks;
	u32 moved;			/* bytes that PIO has copied */
	bool moves;			/* there are some to copy */
	struct timer_list watchdog;
	struct irq_work interrupt;
};

struct controller {
	struct virtio_device *virtio;
	struct virtqueue *commands, *lines;
	spinlock_t lock;
	struct mutex presence;
	struct work_struct changed;
	struct slot *slot;		/* NULL: no card is in it */
	bool taken;			/* the card has the buffers below */
	bool leaving;			/* the driver lets go of it */
	struct command_head command;
	struct answer_head answer;
	struct answer_head line[LINE_BUFFERS];
	u8 *data;			/* between scatter list and card */
};

static u32 bytes_of(const struct mmc_data *data)
{
	return data ? data->blksz * data->blocks : 0;
}

static bool writes(const struct mmc_request *request)
{
	return request->data && (request->data->flags & MMC_DATA_WRITE);
}

static u64 wire_ns(const struct slot *slot, const struct mmc_request *request)
{
	const struct mmc_data *data = request->data;
	u32 hz = slot->mmc->ios.clock, lines = 1 << slot->mmc->ios.bus_width;
	u64 clocks = CLOCKS_COMMAND;

	if (!bus_time || !hz)
		return 0;
	if (data && request->cmd->opcode == IO_RW_EXTENDED)
		clocks = CLOCKS_EXTENDED + (u64)data->blocks *
			(data->blksz * 8 / lines + CLOCKS_BLOCK + (writes(request) ? CLOCKS_CRC_STATUS : 0));
	return div_u64(clocks * NSEC_PER_SEC, hz);
}

/* Copies the next bytes between the scatter list and our buffer, as DMA or the processor would. */
static void move_data(struct slot *slot, u32 bytes)
{
	struct mmc_data *data = slot->request->data;

	bytes = min(bytes, bytes_of(data) - slot->moved);
	if (data->flags & MMC_DATA_WRITE)
		sg_pcopy_to_buffer(data->sg, data->sg_len, slot->controller->data + slot->moved, bytes, slot->moved);
	else
		sg_pcopy_from_buffer(data->sg, data->sg_len, slot->controller->data + slot->moved, bytes, slot->moved);
	slot->moved += bytes;
}

/* Gives the card the command that is under way, with what it writes. Under the lock. */
static int give_command(struct slot *slot)
{
	struct controller *controller = slot->controller;
	const struct mmc_request *request = slot->request;
	const struct mmc_ios *ios = &slot->mmc->ios;
	struct command_head *head = &controller->command;
	struct scatterlist command, to_card, answer, from_card, *lists[4];
	unsigned int out = 0, in = 0;
	u32 len = bytes_of(request->data);
	int error;

	memset(head, 0, sizeof(*head));
	memset(&controller->answer, 0, sizeof(controller->answer));
	head->sequence = cpu_to_le32(slot->sequence);
	head->number = request->cmd->opcode;
	head->lines = 1 << ios->bus_width;
	head->high_speed = ios->timing == MMC_TIMING_SD_HS;
	head->power_ups = slot->power_ups;
	head->argument = cpu_to_le32(request->cmd->arg);
	head->clock_hz = cpu_to_le32(ios->clock);
	if (request->data)
		head->block_bytes = cpu_to_le16(request->data->blksz);
	head->len = cpu_to_le32(writes(request) ? len : 0);
	sg_init_one(&command, head, sizeof(*head));
	lists[out++] = &command;
	if (len && writes(request)) {
		sg_init_one(&to_card, controller->data, len);
		lists[out++] = &to_card;
	}
	sg_init_one(&answer, &controller->answer, sizeof(controller->answer));
	lists[out + in++] = &answer;
	if (len && !writes(request)) {
		sg_init_one(&from_card, controller->data, len);
		lists[out + in++] = &from_card;
	}
	slot->stage = WAITING;
	error = virtqueue_add_sgs(controller->commands, lists, out, in, controller, GFP_ATOMIC);
	if (!error) {
		controller->taken = true;
		virtqueue_kick(controller->commands);
	}
	return error;
}

/* The wires are free. Under the lock; gives the request that is done by that. */
static struct mmc_request *wires_free(struct slot *slot)
{
	struct mmc_request *done = NULL;

	if (slot->stage == SENDING && !give_command(slot))
		return NULL;
	if (slot->stage == WAITING)	/* no room: what never happens with one command at a time */
		slot->request->cmd->error = -EIO;
	done = slot->request;
	slot->request = NULL;
	slot->stage = IDLE;
	return done;
}

static void finish(struct slot *slot, struct mmc_request *done)
{
	if (!done)
		return;
	/* not _sync: this may be the timer itself, and one that comes late finds nothing to do */
	del_timer(&slot->watchdog);
	mmc_request_done(slot->mmc, done);
}

/* Puts a command, or the answer to one, onto the wires. Under the lock; gives the request when it is done at once. */
static struct mmc_request *use_wires(struct slot *slot, u64 ns, bool moves)
{
	u32 bytes = moves ? bytes_of(slot->request->data) : 0;

	slot->moved = 0;
	slot->moves = bytes;
	slot->ticks = pio_bytes && bytes ? DIV_ROUND_UP(bytes, pio_bytes) : 1;
	if (bytes && !(pio_bytes && ns))
		move_data(slot, bytes);
	if (!ns)
		return wires_free(slot);
	slot->tick = ns_to_ktime(max_t(u64, div_u64(ns, slot->ticks), 1));
	hrtimer_start(&slot->wires, slot->tick, HRTIMER_MODE_REL_HARD);
	return NULL;
}

static enum hrtimer_restart wires_tick(struct hrtimer *timer)
{
	struct slot *slot = container_of(timer, struct slot, wires);
	struct mmc_request *done = NULL;
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&slot->controller->lock, flags);
	if (slot->stage != SENDING && slot->stage != RECEIVING) {
		spin_unlock_irqrestore(&slot->controller->lock, flags);
		return HRTIMER_NORESTART;
	}
	if (pio_bytes && slot->moves && slot->moved < bytes_of(slot->request->data)) {
		pio_interrupts++;
		move_data(slot, pio_bytes);
	}
	more = --slot->ticks > 0;
	if (!more)
		done = wires_free(slot);
	spin_unlock_irqrestore(&slot->controller->lock, flags);
	finish(slot, done);
	if (!more)
		return HRTIMER_NORESTART;
	hrtimer_forward(timer, hrtimer_get_expires(timer), slot->tick);
	return HRTIMER_RESTART;
}

/* Gives up the request that is under way. */
static void give_up(struct slot *slot, int error)
{
	struct mmc_request *request;
	unsigned long flags;

	spin_lock_irqsave(&slot->controller->lock, flags);
	request = slot->request;
	slot->request = NULL;
	slot->stage = IDLE;
	spin_unlock_irqrestore(&slot->controller->lock, flags);
	if (request) {
		request->cmd->error = error;
		if (request->data)
			request->data->error = error;
		finish(slot, request);
	}
}

static void watchdog(struct timer_list *timer)
{
	struct slot *slot = from_timer(slot, timer, watchdog);

	timeouts++;
	give_up(slot, -ETIMEDOUT);
}

static void host_request(struct mmc_host *mmc, struct mmc_request *request)
{
	struct slot *slot = mmc_priv(mmc);
	struct mmc_request *done = NULL;
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&slot->controller->lock, flags);
	if (slot->gone)
		error = -ENOMEDIUM;
	else if (slot->request || slot->controller->taken)
		error = -EBUSY;
	else if (bytes_of(request->data) > DATA_BYTES_MAX)
		error = -EINVAL;
	if (!error) {
		commands++;
		slot->request = request;
		slot->sequence++;
		mod_timer(&slot->watchdog, jiffies + msecs_to_jiffies(timeout_ms));
		slot->stage = SENDING;
		done = use_wires(slot, writes(request) ? wire_ns(slot, request) : 0, writes(request));
	}
	spin_unlock_irqrestore(&slot->controller->lock, flags);
	finish(slot, done);
	if (error) {
		request->cmd->error = error;
		mmc_request_done(mmc, request);
	}
}

static void host_set_ios(struct mmc_host *mmc, struct mmc_ios *ios)
{
	struct slot *slot = mmc_priv(mmc);
	bool powered = ios->power_mode != MMC_POWER_OFF;

	slot->power_ups += powered && !slot->powered;
	slot->powered = powered;
}

static int host_get_cd(struct mmc_host *mmc)
{
	struct slot *slot = mmc_priv(mmc);

	return !READ_ONCE(slot->gone);
}

static int host_get_ro(struct mmc_host *mmc)
{
	return 0;
}

static void host_enable_sdio_irq(struct mmc_host *mmc, int enable)
{
	struct slot *slot = mmc_priv(mmc);

	WRITE_ONCE(slot->enabled, enable);
	/* the line is a level: what is still up interrupts again */
	if (enable && READ_ONCE(slot->line))
		irq_work_queue(&slot->interrupt);
}

static void host_ack_sdio_irq(struct mmc_host *mmc)
{
	host_enable_sdio_irq(mmc, 1);
}

static void card_interrupt(struct irq_work *work)
{
	struct slot *slot = container_of(work, struct slot, interrupt);

	if (!READ_ONCE(slot->enabled) || !READ_ONCE(slot->line) || READ_ONCE(slot->gone))
		return;
	signals++;
	if (slot->mmc->caps2 & MMC_CAP2_SDIO_IRQ_NOTHREAD) {
		WRITE_ONCE(slot->enabled, false);
		sdio_signal_irq(slot->mmc);
	} else {
		mmc_signal_sdio_irq(slot->mmc);
	}
}

static const struct mmc_host_ops host_ops = {
	.request = host_request,
	.set_ios = host_set_ios,
	.get_cd = host_get_cd,
	.get_ro = host_get_ro,
	.enable_sdio_irq = host_enable_sdio_irq,
	.ack_sdio_irq = host_ack_sdio_irq,
};

static void take_outcome(struct mmc_request *request, const struct answer_head *head, u32 len)
{
	int error = head->errors & BAD_CRC ? -EILSEQ : -ETIMEDOUT;
	struct mmc_data *data = request->data;

	request->cmd->error = head->errors & BAD_COMMAND ? error : 0;
	request->cmd->resp[0] = le32_to_cpu(head->response);
	if (!data)
		return;
	data->error = head->errors & (BAD_COMMAND | BAD_DATA) ? error : 0;
	if (!data->error && !writes(request) && len != bytes_of(data))
		data->error = -EILSEQ;
	data->bytes_xfered = data->error ? 0 : bytes_of(data);
}

/* The interrupt line is as a message says. Under the lock. */
static void take_line(struct slot *slot, const struct answer_head *head)
{
	WRITE_ONCE(slot->line, head->flags & LINE_UP);
	if (slot->line && READ_ONCE(slot->enabled))
		irq_work_queue(&slot->interrupt);
}

/* The card has answered a command. */
static void commands_done(struct virtqueue *queue)
{
	struct controller *controller = queue->vdev->priv;
	const struct answer_head *head = &controller->answer;
	struct mmc_request *request, *done = NULL;
	struct slot *slot;
	unsigned long flags;
	unsigned int used;
	bool reads;

	spin_lock_irqsave(&controller->lock, flags);
	slot = controller->slot;
	while (virtqueue_get_buf(queue, &used)) {
		controller->taken = false;
		/* else the core has given the command up */
		if (!slot || slot->stage != WAITING || le32_to_cpu(head->sequence) != slot->sequence)
			continue;
		request = slot->request;
		take_outcome(request, head, le32_to_cpu(head->len));
		reads = request->data && !writes(request) && !request->data->error;
		slot->stage = RECEIVING;
		done = use_wires(slot, writes(request) ? 0 : wire_ns(slot, request), reads);
		take_line(slot, head);
	}
	spin_unlock_irqrestore(&controller->lock, flags);
	if (slot)
		finish(slot, done);
}

static void offer_line(struct controller *controller, struct answer_head *head)
{
	struct scatterlist list;

	sg_init_one(&list, head, sizeof(*head));
	/* there is room: as many buffers as before */
	WARN_ON_ONCE(virtqueue_add_inbuf(controller->lines, &list, 1, head, GFP_ATOMIC));
}

/* The interrupt line has changed. */
static void lines_changed(struct virtqueue *queue)
{
	struct controller *controller = queue->vdev->priv;
	struct answer_head *head;
	unsigned long flags;
	unsigned int used;

	spin_lock_irqsave(&controller->lock, flags);
	while ((head = virtqueue_get_buf(queue, &used))) {
		if (controller->slot)
			take_line(controller->slot, head);
		offer_line(controller, head);
	}
	virtqueue_kick(queue);
	spin_unlock_irqrestore(&controller->lock, flags);
}

static struct slot *insert(struct controller *controller)
{
	struct mmc_host *mmc = mmc_alloc_host(sizeof(struct slot), &controller->virtio->dev);
	struct slot *slot;

	if (!mmc)
		return NULL;
	slot = mmc_priv(mmc);
	slot->mmc = mmc;
	slot->controller = controller;
	hrtimer_init(&slot->wires, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	slot->wires.function = wires_tick;
	timer_setup(&slot->watchdog, watchdog, 0);
	slot->interrupt = IRQ_WORK_INIT_HARD(card_interrupt);
	mmc->ops = &host_ops;
	mmc->f_min = 400000;
	mmc->f_max = 50000000;
	mmc->ocr_avail = MMC_VDD_32_33 | MMC_VDD_33_34;
	mmc->caps = MMC_CAP_SD_HIGHSPEED | MMC_CAP_4_BIT_DATA;
	mmc->caps2 = MMC_CAP2_NO_SD | MMC_CAP2_NO_MMC;
	if (strcmp(interrupts, "poll"))
		mmc->caps |= MMC_CAP_SDIO_IRQ;
	if (!strcmp(interrupts, "work"))
		mmc->caps2 |= MMC_CAP2_SDIO_IRQ_NOTHREAD;
	mmc->max_segs = segments;
	mmc->max_seg_size = DATA_BYTES_MAX;
	mmc->max_req_size = DATA_BYTES_MAX;
	mmc->max_blk_size = BLOCK_BYTES_MAX;
	mmc->max_blk_count = BLOCKS_MAX;
	return slot;
}

/* Drivers let go of their card here, and may take their time, or never come back. */
static void pull_out(struct controller *controller)
{
	struct slot *slot = controller->slot;
	unsigned long flags;

	spin_lock_irqsave(&controller->lock, flags);
	slot->gone = true;
	spin_unlock_irqrestore(&controller->lock, flags);
	hrtimer_cancel(&slot->wires);
	give_up(slot, -ENOMEDIUM);
	mmc_remove_host(slot->mmc);
	spin_lock_irqsave(&controller->lock, flags);
	controller->slot = NULL;
	spin_unlock_irqrestore(&controller->lock, flags);
	hrtimer_cancel(&slot->wires);
	del_timer_sync(&slot->watchdog);
	irq_work_sync(&slot->interrupt);
	mmc_free_host(slot->mmc);
}

/* A card was put in, or pulled out. */
static void presence_changed(struct work_struct *work)
{
	struct controller *controller = container_of(work, struct controller, changed);
	struct slot *slot;
	unsigned long flags;
	u8 present = 0;

	mutex_lock(&controller->presence);
	if (controller->leaving) {
		mutex_unlock(&controller->presence);
		return;
	}
	virtio_cread_bytes(controller->virtio, 0, &present, sizeof(present));
	if (!present && controller->slot) {
		pull_out(controller);
	} else if (present && !controller->slot) {
		slot = insert(controller);
		if (slot) {
			spin_lock_irqsave(&controller->lock, flags);
			controller->slot = slot;
			spin_unlock_irqrestore(&controller->lock, flags);
			if (mmc_add_host(slot->mmc)) {
				spin_lock_irqsave(&controller->lock, flags);
				controller->slot = NULL;
				spin_unlock_irqrestore(&controller->lock, flags);
				mmc_free_host(slot->mmc);
			}
		}
	}
	mutex_unlock(&controller->presence);
}

static void config_changed(struct virtio_device *virtio)
{
	struct controller *controller = virtio->priv;

	queue_work(system_unbound_wq, &controller->changed);
}

static int find_queues(struct controller *controller)
{
	struct virtqueue *queues[2];
	int error;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	struct virtqueue_info infos[] = { { "commands", commands_done }, { "lines", lines_changed } };

	error = virtio_find_vqs(controller->virtio, 2, queues, infos, NULL);
#else
	vq_callback_t *callbacks[] = { commands_done, lines_changed };
	static const char * const names[] = { "commands", "lines" };

	error = virtio_find_vqs(controller->virtio, 2, queues, callbacks, names, NULL);
#endif
	controller->commands = queues[0];
	controller->lines = queues[1];
	return error;
}

static int probe(struct virtio_device *virtio)
{
	struct controller *controller = kzalloc(sizeof(*controller), GFP_KERNEL);
	int i, error = -ENOMEM;

	if (!controller)
		return error;
	controller->virtio = virtio;
	virtio->priv = controller;
	spin_lock_init(&controller->lock);
	mutex_init(&controller->presence);
	INIT_WORK(&controller->changed, presence_changed);
	controller->data = alloc_pages_exact(DATA_BYTES_MAX, GFP_KERNEL | __GFP_ZERO);
	if (controller->data)
		error = find_queues(controller);
	if (error) {
		if (controller->data)
			free_pages_exact(controller->data, DATA_BYTES_MAX);
		kfree(controller);
		return error;
	}
	virtio_device_ready(virtio);
	for (i = 0; i < LINE_BUFFERS; i++)
		offer_line(controller, &controller->line[i]);
	virtqueue_kick(controller->lines);
	config_changed(virtio);
	return 0;
}

static void remove(struct virtio_device *virtio)
{
	struct controller *controller = virtio->priv;

	mutex_lock(&controller->presence);
	controller->leaving = true;
	if (controller->slot)
		pull_out(controller);
	mutex_unlock(&controller->presence);
	virtio_reset_device(virtio);
	/* nothing queues it any more, and what is queued finds that the driver leaves */
	cancel_work_sync(&controller->changed);
	virtio->config->del_vqs(virtio);
	free_pages_exact(controller->data, DATA_BYTES_MAX);
	kfree(controller);
}

static const struct virtio_device_id ids[] = { { VIRTIO_ID_RPMB, VIRTIO_DEV_ANY_ID }, { 0 } };
MODULE_DEVICE_TABLE(virtio, ids);

static struct virtio_driver driver = {
	.driver.name = "virtual_mmc_host",
	.driver.owner = THIS_MODULE,
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.config_changed = config_changed,
};

static int __init virtual_mmc_init(void)
{
	if (strcmp(interrupts, "thread") && strcmp(interrupts, "work") && strcmp(interrupts, "poll")) {
		pr_err("virtual_mmc_host: interrupts is thread, work or poll, not %s\n", interrupts);
		return -EINVAL;
	}
	if (!segments || segments > 128 || (pio_bytes && !bus_time) || !timeout_ms) {
		pr_err("virtual_mmc_host: segments is 1 to 128, pio_bytes takes bus_time, timeout_ms is not 0\n");
		return -EINVAL;
	}
	return register_virtio_driver(&driver);
}

static void __exit virtual_mmc_exit(void)
{
	unregister_virtio_driver(&driver);
}

module_init(virtual_mmc_init);
module_exit(virtual_mmc_exit);
MODULE_DESCRIPTION("Virtual MMC/SD host controller, its SDIO card outside of the computer");
MODULE_AUTHOR("txop contributors");
MODULE_LICENSE("GPL");
