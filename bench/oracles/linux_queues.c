/* The kernel's CoDel, fq_codel and mac80211 flow queues behind a few functions that linux_queues.cc calls.
 *
 * KERNEL_CUT is net/sched/sch_fq_codel.c without what follows its packet path (netlink, statistics, registration);
 * linux_queues.sh makes it. */
#include "kernel.h"

#include <net/codel.h>
#include <net/codel_impl.h>
#include <net/fq.h>
#include <net/fq_impl.h>
#include KERNEL_CUT

#include "linux_queues.h"

u64 kernel_now_ns;

static struct {
	enum linux_kind kind;
	struct linux_settings settings;
	struct codel_params params;
	struct codel_stats stats;
	/* LINUX_CODEL */
	struct sk_buff_head queue;
	u32 backlog;
	struct codel_vars vars;
	/* LINUX_FQ_CODEL */
	struct Qdisc qdisc;
	/* LINUX_FQ_MAC */
	struct fq fq;
	struct codel_vars *flow_vars;
	struct {
		struct fq_tin tin;
		struct codel_vars default_vars;
	} tins[LINUX_TINS];
} state;

static u32 length_of(const struct sk_buff *skb)
{
	return skb->len;
}

static codel_time_t time_of(const struct sk_buff *skb)
{
	return *(const codel_time_t *)skb->cb;
}

static void drop(struct sk_buff *skb, void *context)
{
	(void)context;
	kernel_dropped(skb);
}

void kernel_dropped(struct sk_buff *skb)
{
	linux_dropped(skb->id);
	free(skb);
}

void linux_make(enum linux_kind kind, const struct linux_settings *settings)
{
	memset(&state, 0, sizeof(state));
	state.kind = kind;
	state.settings = *settings;
	codel_params_init(&state.params);
	codel_stats_init(&state.stats);
	state.params.target = settings->target_us * NSEC_PER_USEC >> CODEL_SHIFT;
	state.params.interval = settings->interval_us * NSEC_PER_USEC >> CODEL_SHIFT;
	state.params.mtu = settings->spared_bytes;
	state.params.ecn = settings->ecn;
	__skb_queue_head_init(&state.queue);
	codel_vars_init(&state.vars);
	if (kind == LINUX_FQ_CODEL) {
		struct fq_codel_sched_data *q = qdisc_priv(&state.qdisc);
		state.qdisc.limit = settings->packets;
		q->flows_cnt = settings->flows;
		q->flows = kvcalloc(q->flows_cnt, sizeof(*q->flows), GFP_KERNEL);
		q->backlogs = kvcalloc(q->flows_cnt, sizeof(u32), GFP_KERNEL);
		q->quantum = settings->quantum_bytes;
		q->drop_batch_size = settings->drop_batch;
		q->memory_limit = settings->memory_bytes;
		q->cparams = state.params;
		codel_stats_init(&q->cstats);
		fq_codel_reset(&state.qdisc);
	} else if (kind == LINUX_FQ_MAC) {
		if (fq_init(&state.fq, settings->flows))
			abort();
		state.fq.quantum = settings->quantum_bytes;
		state.fq.limit = settings->packets;
		state.fq.memory_limit = settings->memory_bytes;
		state.flow_vars = calloc(settings->flows, sizeof(*state.flow_vars));
		for (int tin = 0; tin < LINUX_TINS; tin++)
			fq_tin_init(&state.tins[tin].tin);
	}
}

static struct sk_buff *take_of_queue(struct codel_vars *vars, void *context)
{
	struct sk_buff *skb = __skb_dequeue(&state.queue);
	(void)vars, (void)context;
	if (skb)
		state.backlog -= skb->len;
	return skb;
}

static struct sk_buff *take_of_flow(struct codel_vars *vars, void *context)
{
	(void)vars;
	return fq_flow_dequeue(&state.fq, context);
}

/* As net/mac80211/tx.c calls CoDel: with the backlog of the flow. */
static struct sk_buff *codel_of_flow(struct fq *fq, struct fq_tin *tin, struct fq_flow *flow)
{
	struct codel_vars *vars = &state.flow_vars[flow - fq->flows];
	if (flow == &tin->default_flow)
		vars = &state.tins[container_of(tin, __typeof__(state.tins[0]), tin) - state.tins].default_vars;
	return codel_dequeue(flow, &flow->backlog, &state.params, vars, &state.stats, length_of, time_of, drop, take_of_flow);
}

static void free_of_flow(struct fq *fq, struct fq_tin *tin, struct fq_flow *flow, struct sk_buff *skb)
{
	(void)fq, (void)tin, (void)flow;
	kernel_dropped(skb);
}

void linux_enqueue(uint64_t now_ns, uint32_t tin, const struct linux_packet *packet)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	kernel_now_ns = now_ns;
	skb->id = packet->id;
	skb->len = packet->bytes;
	skb->truesize = packet->memory_bytes;
	skb->hash = packet->hash;
	skb->ecn_capable = packet->ecn_capable;
	*(codel_time_t *)skb->cb = codel_get_time();
	switch (state.kind) {
	case LINUX_CODEL:
		__skb_queue_tail(&state.queue, skb);
		state.backlog += skb->len;
		break;
	case LINUX_FQ_CODEL: {
		struct sk_buff *to_free = NULL;
		fq_codel_enqueue(skb, &state.qdisc, &to_free);
		break;
	}
	case LINUX_FQ_MAC:
		fq_tin_enqueue(&state.fq, &state.tins[tin].tin, fq_flow_idx(&state.fq, skb), skb, free_of_flow);
		break;
	}
}

int linux_dequeue(uint64_t now_ns, uint32_t tin, struct linux_packet *packet)
{
	struct sk_buff *skb = NULL;
	kernel_now_ns = now_ns;
	switch (state.kind) {
	case LINUX_CODEL:
		skb = codel_dequeue(NULL, &state.backlog, &state.params, &state.vars, &state.stats, length_of, time_of, drop,
				    take_of_queue);
		break;
	case LINUX_FQ_CODEL:
		skb = fq_codel_dequeue(&state.qdisc);
		break;
	case LINUX_FQ_MAC:
		skb = fq_tin_dequeue(&state.fq, &state.tins[tin].tin, codel_of_flow);
		break;
	}
	if (!skb)
		return 0;
	packet->id = skb->id;
	packet->bytes = skb->len;
	packet->marked = skb->marked;
	free(skb);
	return 1;
}
