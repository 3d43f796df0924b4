/* What Linux's queue code needs of a kernel, in a process: just enough to compile the packet path of
 * net/sched/sch_fq_codel.c, include/net/codel*.h and include/net/fq*.h of a kernel source tree as they are. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned int gfp_t;
typedef struct { int held; } spinlock_t;

#define ENOMEM 12
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define GFP_KERNEL 0
#define __rcu
#define likely(x) (x)
#define unlikely(x) (x)
#define typecheck(type, x) 1
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define WARN_ON_ONCE(x) ((void)(x))
#define lockdep_assert_held(x) ((void)(x))
#define spin_lock_init(x) ((void)(x))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp_t(type, x, low, high) max_t(type, min_t(type, x, high), low)
#define do_div(n, base) ((n) /= (base))
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

static inline u32 reciprocal_scale(u32 value, u32 range)
{
	return (u32)(((u64)value * range) >> 32);
}

static inline void *kvcalloc(size_t n, size_t size, gfp_t flags)
{
	(void)flags;
	return calloc(n, size);
}

static inline void kvfree(const void *p)
{
	free((void *)p);
}

/* The clock. */
extern u64 kernel_now_ns;
static inline u64 ktime_get_ns(void)
{
	return kernel_now_ns;
}

/* Lists. */
struct list_head {
	struct list_head *next, *prev;
};

#define INIT_LIST_HEAD(list) ((list)->next = (list)->prev = (list))
#define list_empty(list) ((list)->next == (list))
#define list_first_entry(list, type, member) container_of((list)->next, type, member)
#define list_for_each(at, list) for (at = (list)->next; at != (list); at = at->next)
#define list_for_each_entry(at, list, member)                                             \
	for (at = container_of((list)->next, __typeof__(*at), member); &at->member != (list); \
	     at = container_of(at->member.next, __typeof__(*at), member))

static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
	entry->next = list;
	entry->prev = list->prev;
	list->prev->next = entry;
	list->prev = entry;
}

static inline void list_add(struct list_head *entry, struct list_head *list)
{
	list_add_tail(entry, list->next);
}

static inline void list_del_init(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *list)
{
	list_del_init(entry);
	list_add_tail(entry, list);
}

/* Bitmaps. */
#define BITS (8 * sizeof(unsigned long))
static inline unsigned long *bitmap_zalloc(unsigned int bits, gfp_t flags)
{
	(void)flags;
	return calloc(bits / BITS + 1, sizeof(unsigned long));
}

static inline void bitmap_free(unsigned long *map)
{
	free(map);
}

static inline void __set_bit(unsigned int bit, unsigned long *map)
{
	map[bit / BITS] |= 1ul << bit % BITS;
}

static inline void __clear_bit(unsigned int bit, unsigned long *map)
{
	map[bit / BITS] &= ~(1ul << bit % BITS);
}

static inline bool bit_is_set(unsigned int bit, const unsigned long *map)
{
	return map[bit / BITS] >> bit % BITS & 1;
}
#define for_each_set_bit(bit, map, size) \
	for (bit = 0; (unsigned int)bit < (size); bit++) \
		if (bit_is_set(bit, map))

/* Packets. */
struct sk_buff {
	struct sk_buff *next;
	u32 len, truesize, priority, hash;
	char cb[64];
	/* Ours. */
	u32 id;
	bool ecn_capable, marked;
};

struct sk_buff_head {
	struct sk_buff *first, *last;
	u32 qlen;
};

static inline void __skb_queue_head_init(struct sk_buff_head *queue)
{
	memset(queue, 0, sizeof(*queue));
}

static inline u32 skb_queue_len(const struct sk_buff_head *queue)
{
	return queue->qlen;
}

static inline struct sk_buff *skb_peek(const struct sk_buff_head *queue)
{
	return queue->first;
}

static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *queue)
{
	struct sk_buff *skb = queue->first;
	if (skb) {
		queue->first = skb->next;
		queue->qlen--;
		skb->next = NULL;
	}
	return skb;
}

static inline void __skb_queue_tail(struct sk_buff_head *queue, struct sk_buff *skb)
{
	skb->next = NULL;
	if (queue->first)
		queue->last->next = skb;
	else
		queue->first = skb;
	queue->last = skb;
	queue->qlen++;
}

static inline void __skb_queue_head(struct sk_buff_head *queue, struct sk_buff *skb)
{
	skb->next = queue->first;
	if (!queue->first)
		queue->last = skb;
	queue->first = skb;
	queue->qlen++;
}

#define skb_mark_not_on_list(skb) ((skb)->next = NULL)
#define skb_list_walk_safe(first, at, after) \
	for ((at) = (first), (after) = (at) ? (at)->next : NULL; (at); (at) = (after), (after) = (at) ? (at)->next : NULL)
#define skb_queue_walk_safe(queue, at, after) \
	for ((at) = (queue)->first, (after) = (at) ? (at)->next : NULL; (at); (at) = (after), (after) = (at) ? (at)->next : NULL)
/* Only for what removes packets from the middle, which is never done here. */
#define __skb_unlink(skb, queue) abort()

static inline u32 skb_get_hash(const struct sk_buff *skb)
{
	return skb->hash;
}

static inline int INET_ECN_set_ce(struct sk_buff *skb)
{
	skb->marked |= skb->ecn_capable;
	return skb->ecn_capable;
}

static inline int skb_get_dsfield(const struct sk_buff *skb)
{
	(void)skb;
	return -1;
}

/* Drops are reported to the driver. */
void kernel_dropped(struct sk_buff *skb);
#define kfree_skb(skb) kernel_dropped(skb)

/* Queueing disciplines. */
struct tcf_proto;
struct tcf_block;
struct tcf_result {
	u32 classid;
};

struct Qdisc {
	u32 handle, limit;
	struct {
		u32 qlen;
	} q;
	struct {
		u32 backlog, drops;
	} qstats;
	struct sk_buff_head gso_skb;
	u64 private_data[64];
};

struct qdisc_skb_cb {
	char data[64];
};

/* No packet asks for a class, and there are no filters. */
#define TC_H_MAJ(handle) ((handle) & 0xffff0000u)
#define TC_H_MIN(handle) ((handle) & 0xffffu)
#define NET_XMIT_SUCCESS 0
#define NET_XMIT_CN 2
#define __NET_XMIT_STOLEN 0x10000
#define __NET_XMIT_BYPASS 0x20000
#define rcu_dereference_bh(pointer) (pointer)
#define tcf_classify(skb, filter, result, compat) ((result)->classid = 0, -1)
#define tcf_classify_qdisc(skb, filter, result, compat) ((result)->classid = 0, -1)

#define qdisc_priv(sch) ((void *)(sch)->private_data)
static inline unsigned int qdisc_pkt_len(const struct sk_buff *skb)
{
	return skb->len;
}
#define qdisc_skb_cb(skb) ((struct qdisc_skb_cb *)(skb)->cb)
#define qdisc_cb_private_validate(skb, size) ((void)(skb))
#define qdisc_qstats_drop(sch) ((sch)->qstats.drops++)
#define __qdisc_qstats_drop(sch, n) ((sch)->qstats.drops += (n))
#define qdisc_qstats_backlog_inc(sch, skb) ((sch)->qstats.backlog += (skb)->len)
#define qdisc_bstats_update(sch, skb) ((void)(skb))
#define qdisc_tree_reduce_backlog(sch, packets, bytes) ((void)(packets), (void)(bytes))
#define __qdisc_drop(skb, to_free) kernel_dropped(skb)
#define rtnl_kfree_skbs(first, last) ((void)(first), (void)(last))
