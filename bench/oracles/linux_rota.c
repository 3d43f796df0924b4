/* mac80211's choice of the station that fills the next aggregate, and its airtime queue limits, replayed.
 *
 * KERNEL_TX and KERNEL_STA are the functions of net/mac80211/tx.c and sta_info.c that linux_rota.sh cuts out of a kernel
 * source tree. A scenario says stations (number, weight, µs of air that a packet takes) and packets (time in µs, station,
 * how many); the trace has a line for each aggregate: time in ns, station, packets. */
#include "kernel.h"

#include <stdio.h>

#define MOST_STATIONS 16
/* As large as an aggregate gets, and what comes with each, µs. */
#define AGGREGATE_US 4000
#define OVERHEAD_US 150
/* A jiffy is a nanosecond here. */
#define jiffies ((unsigned long)kernel_now_ns)
#define ACTIVE_JIFFIES 100000000ul

typedef struct {
	int counter;
} atomic_t;
#define atomic_read(a) ((a)->counter)
#define atomic_add(n, a) ((void)((a)->counter += (n)))
#define atomic_sub(n, a) ((void)((a)->counter -= (n)))
#define atomic_sub_return(n, a) ((a)->counter -= (n))
#define atomic_cmpxchg(a, old, new) ((void)((a)->counter == (old) ? (a)->counter = (new) : 0))
#define WARN_ONCE(condition, ...) (condition)
#define EXPORT_SYMBOL(symbol)
#define DEFINE_STATIC_KEY_FALSE(key)
#define static_branch_unlikely(key) false
#define spin_lock_bh(lock) ((void)(lock))
#define spin_unlock_bh(lock) ((void)(lock))
#define test_bit(bit, flags) ((void)(flags), false)
#define list_first_entry_or_null(list, type, member) (list_empty(list) ? NULL : list_first_entry(list, type, member))
#define wiphy_ext_feature_isset(wiphy, feature) ((wiphy)->aql || (feature) == NL80211_EXT_FEATURE_AIRTIME_FAIRNESS)
#define wiphy_name(wiphy) ""
#define to_txq_info(queue) container_of(queue, struct txq_info, txq)
#define hw_to_local(device) container_of(device, struct ieee80211_local, hw)
#define ieee80211_ac_from_tid(tid) 0
#define IEEE80211_NUM_TIDS 16
enum { NL80211_EXT_FEATURE_AQL, NL80211_EXT_FEATURE_AIRTIME_FAIRNESS };
enum { AIRTIME_USE_TX = 1, AIRTIME_USE_RX = 2 };
enum { IEEE80211_TXQ_STOP };

struct wiphy {
	bool aql;
};

struct ieee80211_hw {
	struct wiphy *wiphy;
};

struct ieee80211_local {
	struct ieee80211_hw hw;
	spinlock_t active_txq_lock[4];
	struct list_head active_txqs[4];
	u16 schedule_round[4], airtime_flags;
	u32 aql_txq_limit_low[4], aql_txq_limit_high[4], aql_threshold;
	atomic_t aql_total_pending_airtime, aql_ac_pending_airtime[4];
};

struct ieee80211_sta {
	int unused;
};

struct ieee80211_txq {
	struct ieee80211_sta *sta;
	u8 tid, ac;
};

struct txq_info {
	struct list_head schedule_order;
	u16 schedule_round;
	unsigned long flags;
	struct ieee80211_txq txq;
	/* Ours. */
	u32 packets;
};

struct airtime_info {
	u64 rx_airtime, tx_airtime;
	unsigned long last_active;
	s32 deficit;
	atomic_t aql_tx_pending;
	u32 aql_limit_low, aql_limit_high;
};

struct ieee80211_sub_if_data {
	struct ieee80211_local *local;
};

struct sta_info {
	struct ieee80211_local *local;
	struct ieee80211_sub_if_data *sdata;
	struct airtime_info airtime[4];
	u16 airtime_weight;
	struct ieee80211_sta sta;
};

u64 kernel_now_ns;

static bool txq_has_queue(struct ieee80211_txq *txq)
{
	return to_txq_info(txq)->packets > 0;
}

/* AIRTIME_ACTIVE_DURATION is a tenth of a second (net/mac80211/ieee80211_i.h). */
static bool ieee80211_sta_keep_active(struct sta_info *sta, u8 ac)
{
	return (long)(sta->airtime[ac].last_active + ACTIVE_JIFFIES - jiffies) >= 0;
}

void ieee80211_sta_update_pending_airtime(struct ieee80211_local *, struct sta_info *, u8, u16, bool);
bool ieee80211_txq_airtime_check(struct ieee80211_hw *, struct ieee80211_txq *);
#include KERNEL_TX
#include KERNEL_STA

static struct wiphy wiphy;
static struct ieee80211_local local = { .hw = { &wiphy } };
static struct ieee80211_sub_if_data sdata = { &local };
static struct sta_info stations[MOST_STATIONS];
static struct txq_info queues[MOST_STATIONS];
static u32 packet_us[MOST_STATIONS];

static struct {
	u32 station, packets, airtime_us;
} hardware[64];
static u32 depth, in_hardware;
static u64 done_ns;

/* Fills the hardware: each aggregate in a round of its own. */
static void fill(void)
{
	while (in_hardware < depth) {
		struct ieee80211_txq *txq;
		u32 station, packets = 0;
		/* Where it would be refused a round is not begun: see README.md. */
		if (!ieee80211_txq_schedule_airtime_check(&local, 0))
			return;
		ieee80211_txq_schedule_start(&local.hw, 0);
		for (;;) {
			txq = ieee80211_next_txq(&local.hw, 0);
			if (!txq)
				return;
			if (txq_has_queue(txq))
				break;
			__ieee80211_schedule_txq(&local.hw, txq, false);
		}
		station = to_txq_info(txq) - queues;
		while (queues[station].packets && (packets + 1) * packet_us[station] <= AGGREGATE_US &&
		       ieee80211_txq_airtime_check(&local.hw, txq)) {
			queues[station].packets--;
			packets++;
			ieee80211_sta_update_pending_airtime(&local, &stations[station], 0, packet_us[station], false);
		}
		__ieee80211_schedule_txq(&local.hw, txq, false);
		if (!in_hardware)
			done_ns = kernel_now_ns + 1000ull * (packets * packet_us[station] + OVERHEAD_US);
		hardware[in_hardware].station = station;
		hardware[in_hardware].packets = packets;
		hardware[in_hardware++].airtime_us = packets * packet_us[station] + OVERHEAD_US;
		printf("%llu %u %u\n", (unsigned long long)kernel_now_ns, station, packets);
	}
}

static void complete(void)
{
	const u32 station = hardware[0].station;
	u32 packet;
	for (packet = 0; packet < hardware[0].packets; packet++)
		ieee80211_sta_update_pending_airtime(&local, &stations[station], 0, packet_us[station], true);
	ieee80211_sta_register_airtime(&stations[station].sta, 0, hardware[0].airtime_us, 0);
	memmove(hardware, hardware + 1, --in_hardware * sizeof(hardware[0]));
	if (in_hardware)
		done_ns = kernel_now_ns + 1000ull * hardware[0].airtime_us;
	fill();
}

int main(void)
{
	char line[256];
	local.airtime_flags = AIRTIME_USE_TX | AIRTIME_USE_RX;
	local.aql_threshold = 24000;
	for (int ac = 0; ac < 4; ac++) {
		INIT_LIST_HEAD(&local.active_txqs[ac]);
		local.aql_txq_limit_low[ac] = 5000;
		local.aql_txq_limit_high[ac] = 12000;
	}
	while (fgets(line, sizeof(line), stdin) && strncmp(line, "trace", 5)) {
		unsigned int station, weight, us, aql;
		unsigned long long at_us;
		if (sscanf(line, "hardware depth=%u aql=%u", &depth, &aql) == 2) {
			wiphy.aql = aql;
		} else if (sscanf(line, "station %u %u %u", &station, &weight, &us) == 3 && station < MOST_STATIONS) {
			struct sta_info *sta = &stations[station];
			sta->local = &local;
			sta->sdata = &sdata;
			sta->airtime_weight = weight;
			packet_us[station] = us;
			queues[station].txq.sta = &sta->sta;
			INIT_LIST_HEAD(&queues[station].schedule_order);
			sta->airtime[0].deficit = weight;
			sta->airtime[0].aql_limit_low = 5000;
			sta->airtime[0].aql_limit_high = 12000;
		} else if (sscanf(line, "packets %llu %u %u", &at_us, &station, &us) == 3 && station < MOST_STATIONS) {
			while (in_hardware && done_ns < at_us * 1000) {
				kernel_now_ns = done_ns;
				complete();
			}
			kernel_now_ns = at_us * 1000;
			queues[station].packets += us;
			__ieee80211_schedule_txq(&local.hw, &queues[station].txq, true);
			fill();
		}
	}
	while (in_hardware) {
		kernel_now_ns = done_ns;
		complete();
	}
	return 0;
}
