// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtual MMC/SD host controller for SDIO cards. The card is a process: opening /dev/virtual-mmc puts a card into a
 * slot of its own, closing it pulls the card out. The process reads commands and writes answers; all numbers are little
 * endian. What a host of silicon does with a command besides (time on the wires, interrupts) is done here.
 *
 * read: one command, 24 bytes and the data that it writes
 *	0 u32 sequence, 4 u8 command, 5 u8 lines, 6 u8 high speed, 7 u8 how often the card got power (modulo 256),
 *	8 u32 argument, 12 u32 clock (Hz), 16 u16 bytes of a block (0: no data), 18 u16 0, 20 u32 bytes that follow
 * write: 16 bytes and the data that the command has read
 *	0 u32 sequence, 4 u8 flags (bit 0: this answers the command, bit 1: the interrupt line is up),
 *	5 u8 errors (bit 0 command, 1 data, 2 CRC, 3 timeout), 6 u16 0, 8 u32 response, 12 u32 bytes that follow
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/miscdevice.h>
#include <linux/mmc/card.h>
#include <linux/mmc/core.h>
#include <linux/mmc/host.h>
#include <linux/mmc/mmc.h>
#include <linux/mmc/sdio_func.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/scatterlist.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

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
MODULE_PARM_DESC(timeout_ms, "a process that has not answered by then is given up");

static unsigned long commands, signals, pio_interrupts, timeouts;
module_param(commands, ulong, 0444);
MODULE_PARM_DESC(commands, "counter: commands");
module_param(signals, ulong, 0444);
MODULE_PARM_DESC(signals, "counter: interrupts of cards that the core was notified of");
module_param(pio_interrupts, ulong, 0444);
MODULE_PARM_DESC(pio_interrupts, "counter: interrupts that moved data");
module_param(timeouts, ulong, 0444);
MODULE_PARM_DESC(timeouts, "counter: commands that the process did not answer in time");

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
	QUEUED,		/* the process has not read it */
	READING,	/* the process is reading it */
	WAITING,	/* the process has it */
	ANSWERING,	/* the process is writing its answer */
	RECEIVING,	/* the answer is on the wires */
};

struct slot {
	struct mmc_host *mmc;
	struct mutex process;		/* reads and writes of the process */
	spinlock_t lock;		/* all below */
	wait_queue_head_t readable;
	struct mmc_request *request;
	enum stage stage;
	u32 sequence;
	u8 power_ups;
	bool powered, gone, enabled, line;
	struct hrtimer wires;
	ktime_t tick;
	u32 ticks;
	u32 moved;			/* bytes that PIO has copied */
	struct timer_list watchdog;
	struct irq_work interrupt;
	struct work_struct removal;
	u8 *data;			/* between scatter list and process */
};

static struct workqueue_struct *removals;
static struct miscdevice device;

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
		sg_pcopy_to_buffer(data->sg, data->sg_len, slot->data + slot->moved, bytes, slot->moved);
	else
		sg_pcopy_from_buffer(data->sg, data->sg_len, slot->data + slot->moved, bytes, slot->moved);
	slot->moved += bytes;
}

/* The wires are free. Under the lock; gives the request that is done by that. */
static struct mmc_request *wires_free(struct slot *slot)
{
	struct mmc_request *done = NULL;

	if (slot->stage == SENDING) {
		slot->stage = QUEUED;
		wake_up_interruptible(&slot->readable);
	} else if (slot->stage == RECEIVING) {
		done = slot->request;
		slot->request = NULL;
		slot->stage = IDLE;
	}
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

	spin_lock_irqsave(&slot->lock, flags);
	if (slot->stage != SENDING && slot->stage != RECEIVING) {
		spin_unlock_irqrestore(&slot->lock, flags);
		return HRTIMER_NORESTART;
	}
	if (pio_bytes && slot->request->data && slot->moved < bytes_of(slot->request->data)) {
		pio_interrupts++;
		move_data(slot, pio_bytes);
	}
	more = --slot->ticks > 0;
	if (!more)
		done = wires_free(slot);
	spin_unlock_irqrestore(&slot->lock, flags);
	finish(slot, done);
	if (!more)
		return HRTIMER_NORESTART;
	hrtimer_forward(timer, hrtimer_get_expires(timer), slot->tick);
	return HRTIMER_RESTART;
}

/* Gives up the request that is under way, unless the process is in the middle of it and that may go on. */
static bool give_up(struct slot *slot, int error)
{
	struct mmc_request *request = NULL;
	unsigned long flags;
	bool busy;

	spin_lock_irqsave(&slot->lock, flags);
	busy = slot->stage == READING || slot->stage == ANSWERING;
	if (!busy) {
		request = slot->request;
		slot->request = NULL;
		slot->stage = IDLE;
	}
	spin_unlock_irqrestore(&slot->lock, flags);
	if (request) {
		request->cmd->error = error;
		if (request->data)
			request->data->error = error;
		finish(slot, request);
	}
	return !busy;
}

static void watchdog(struct timer_list *timer)
{
	struct slot *slot = from_timer(slot, timer, watchdog);

	timeouts++;
	if (!give_up(slot, -ETIMEDOUT))
		mod_timer(&slot->watchdog, jiffies + HZ);
}

static void host_request(struct mmc_host *mmc, struct mmc_request *request)
{
	struct slot *slot = mmc_priv(mmc);
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&slot->lock, flags);
	if (slot->gone)
		error = -ENOMEDIUM;
	else if (slot->request)
		error = -EBUSY;
	else if (bytes_of(request->data) > DATA_BYTES_MAX)
		error = -EINVAL;
	if (!error) {
		commands++;
		slot->request = request;
		slot->sequence++;
		mod_timer(&slot->watchdog, jiffies + msecs_to_jiffies(timeout_ms));
		slot->stage = SENDING;
		use_wires(slot, writes(request) ? wire_ns(slot, request) : 0, writes(request));
	}
	spin_unlock_irqrestore(&slot->lock, flags);
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

/* Changes the stage if it is this one. */
static bool advance(struct slot *slot, enum stage from, enum stage to)
{
	unsigned long flags;
	bool was;

	spin_lock_irqsave(&slot->lock, flags);
	was = slot->stage == from;
	if (was)
		slot->stage = to;
	spin_unlock_irqrestore(&slot->lock, flags);
	return was;
}

static ssize_t process_read(struct file *file, char __user *buffer, size_t size, loff_t *position)
{
	struct slot *slot = file->private_data;
	struct command_head head = {};
	const struct mmc_request *request;
	const struct mmc_ios *ios = &slot->mmc->ios;
	ssize_t len;

	while (!advance(slot, QUEUED, READING)) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(slot->readable, READ_ONCE(slot->stage) == QUEUED))
			return -ERESTARTSYS;
	}
	/* nothing else completes the request now */
	request = slot->request;
	head.sequence = cpu_to_le32(slot->sequence);
	head.number = request->cmd->opcode;
	head.lines = 1 << ios->bus_width;
	head.high_speed = ios->timing == MMC_TIMING_SD_HS;
	head.power_ups = slot->power_ups;
	head.argument = cpu_to_le32(request->cmd->arg);
	head.clock_hz = cpu_to_le32(ios->clock);
	if (request->data)
		head.block_bytes = cpu_to_le16(request->data->blksz);
	len = writes(request) ? bytes_of(request->data) : 0;
	head.len = cpu_to_le32(len);
	if (size < sizeof(head) + len) {
		advance(slot, READING, QUEUED);
		return -EMSGSIZE;
	}
	if (copy_to_user(buffer, &head, sizeof(head)) || copy_to_user(buffer + sizeof(head), slot->data, len)) {
		advance(slot, READING, QUEUED);
		return -EFAULT;
	}
	advance(slot, READING, WAITING);
	return sizeof(head) + len;
}

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

static ssize_t process_write(struct file *file, const char __user *buffer, size_t size, loff_t *position)
{
	struct slot *slot = file->private_data;
	struct mmc_request *request, *done;
	struct answer_head head;
	unsigned long flags;
	bool reads;
	u32 len;

	if (size < sizeof(head))
		return -EINVAL;
	if (copy_from_user(&head, buffer, sizeof(head)))
		return -EFAULT;
	len = le32_to_cpu(head.len);
	if (len > DATA_BYTES_MAX || size != sizeof(head) + len)
		return -EINVAL;
	WRITE_ONCE(slot->line, head.flags & LINE_UP);
	if (!(head.flags & ANSWERS))
		goto out;
	if (le32_to_cpu(head.sequence) != slot->sequence || !advance(slot, WAITING, ANSWERING))
		return size;	/* too late: the core has given the command up */
	request = slot->request;
	if (copy_from_user(slot->data, buffer + sizeof(head), len)) {
		advance(slot, ANSWERING, WAITING);
		return -EFAULT;
	}
	take_outcome(request, &head, len);
	reads = request->data && !writes(request) && !request->data->error;
	spin_lock_irqsave(&slot->lock, flags);
	slot->stage = RECEIVING;
	done = use_wires(slot, writes(request) ? 0 : wire_ns(slot, request), reads);
	spin_unlock_irqrestore(&slot->lock, flags);
	finish(slot, done);
out:
	if ((head.flags & LINE_UP) && READ_ONCE(slot->enabled))
		irq_work_queue(&slot->interrupt);
	return size;
}

static ssize_t process_read_locked(struct file *file, char __user *buffer, size_t size, loff_t *position)
{
	struct slot *slot = file->private_data;
	ssize_t got;

	if (mutex_lock_interruptible(&slot->process))
		return -ERESTARTSYS;
	got = process_read(file, buffer, size, position);
	mutex_unlock(&slot->process);
	return got;
}

static ssize_t process_write_locked(struct file *file, const char __user *buffer, size_t size, loff_t *position)
{
	struct slot *slot = file->private_data;
	ssize_t put;

	if (mutex_lock_interruptible(&slot->process))
		return -ERESTARTSYS;
	put = process_write(file, buffer, size, position);
	mutex_unlock(&slot->process);
	return put;
}

static __poll_t process_poll(struct file *file, poll_table *table)
{
	struct slot *slot = file->private_data;

	poll_wait(file, &slot->readable, table);
	return EPOLLOUT | EPOLLWRNORM | (READ_ONCE(slot->stage) == QUEUED ? EPOLLIN | EPOLLRDNORM : 0);
}

/* Drivers let go of their card here, and may take their time, or never come back: the process does not wait for them. */
static void remove_slot(struct work_struct *work)
{
	struct slot *slot = container_of(work, struct slot, removal);

	mmc_remove_host(slot->mmc);
	hrtimer_cancel(&slot->wires);
	del_timer_sync(&slot->watchdog);
	irq_work_sync(&slot->interrupt);
	vfree(slot->data);
	mmc_free_host(slot->mmc);
	module_put(THIS_MODULE);
}

static int process_open(struct inode *inode, struct file *file)
{
	struct mmc_host *mmc = mmc_alloc_host(sizeof(struct slot), device.this_device);
	struct slot *slot;
	int error;

	if (!mmc)
		return -ENOMEM;
	slot = mmc_priv(mmc);
	slot->mmc = mmc;
	slot->data = vzalloc(DATA_BYTES_MAX);
	if (!slot->data) {
		mmc_free_host(mmc);
		return -ENOMEM;
	}
	mutex_init(&slot->process);
	spin_lock_init(&slot->lock);
	init_waitqueue_head(&slot->readable);
	hrtimer_init(&slot->wires, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	slot->wires.function = wires_tick;
	timer_setup(&slot->watchdog, watchdog, 0);
	slot->interrupt = IRQ_WORK_INIT_HARD(card_interrupt);
	INIT_WORK(&slot->removal, remove_slot);
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
	error = mmc_add_host(mmc);
	if (error) {
		vfree(slot->data);
		mmc_free_host(mmc);
		return error;
	}
	__module_get(THIS_MODULE);
	file->private_data = slot;
	return stream_open(inode, file);
}

static int process_release(struct inode *inode, struct file *file)
{
	struct slot *slot = file->private_data;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	slot->gone = true;
	spin_unlock_irqrestore(&slot->lock, flags);
	hrtimer_cancel(&slot->wires);
	give_up(slot, -ENOMEDIUM);
	queue_work(removals, &slot->removal);
	return 0;
}

static const struct file_operations process_ops = {
	.owner = THIS_MODULE,
	.open = process_open,
	.release = process_release,
	.read = process_read_locked,
	.write = process_write_locked,
	.poll = process_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "virtual-mmc",
	.fops = &process_ops,
	.mode = 0600,
};

static int __init virtual_mmc_init(void)
{
	int error;

	if (strcmp(interrupts, "thread") && strcmp(interrupts, "work") && strcmp(interrupts, "poll")) {
		pr_err("virtual_mmc_host: interrupts is thread, work or poll, not %s\n", interrupts);
		return -EINVAL;
	}
	if (!segments || segments > 128 || (pio_bytes && !bus_time) || !timeout_ms) {
		pr_err("virtual_mmc_host: segments is 1 to 128, pio_bytes takes bus_time, timeout_ms is not 0\n");
		return -EINVAL;
	}
	removals = alloc_workqueue("virtual_mmc_host", WQ_UNBOUND, 0);
	if (!removals)
		return -ENOMEM;
	error = misc_register(&device);
	if (error)
		destroy_workqueue(removals);
	return error;
}

static void __exit virtual_mmc_exit(void)
{
	misc_deregister(&device);
	destroy_workqueue(removals);
}

module_init(virtual_mmc_init);
module_exit(virtual_mmc_exit);
MODULE_DESCRIPTION("Virtual MMC/SD host controller, its SDIO card a process");
MODULE_AUTHOR("txop contributors");
MODULE_LICENSE("GPL");
