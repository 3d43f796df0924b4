// CoDel, fq_codel and mac80211's flow queues as Linux has them, replayed by replay.hpp. Built by linux_queues.sh.
#include "linux_queues.h"
#include "replay.hpp"

namespace
{

Trace* g_trace;
uint64_t g_now_ns;

/// What a packet takes of a memory limit: what it is in txop (`crates/link/src/queue/skb.rs`).
uint32_t
memory_of(uint32_t bytes)
{
    uint32_t data = 1;
    while (data < bytes + 320 + 64)
    {
        data *= 2;
    }
    return 256 + data;
}

class LinuxQueue : public TestedQueue
{
  public:
    explicit LinuxQueue(const Scenario& scenario)
    {
        const std::string& kind = scenario.queue.at("kind");
        auto number = [&scenario](const char* key) {
            return scenario.queue.count(key) ? uint32_t(scenario.number(key)) : 0;
        };
        const linux_settings settings = {scenario.number("target_us"),
                                         scenario.number("interval_us"),
                                         number("packets"),
                                         number("flows"),
                                         number("quantum_bytes"),
                                         number("drop_batch"),
                                         number("memory_bytes"),
                                         number("spared_bytes"),
                                         number("ecn")};
        m_tins = kind == "fq_mac" ? number("stations") : 1;
        linux_make(kind == "codel" ? LINUX_CODEL : kind == "fq_codel" ? LINUX_FQ_CODEL : LINUX_FQ_MAC, &settings);
    }
    void enqueue(const Arrival& arrival) override
    {
        g_now_ns = arrival.at_ns;
        // Flows up to 1023 have queues of their own, of 1024 and more.
        const linux_packet packet = {
            arrival.id, arrival.bytes, memory_of(arrival.bytes), arrival.flow << 22, arrival.ecn, 0};
        linux_enqueue(arrival.at_ns, arrival.flow % m_tins, &packet);
    }
    /// Stations take turns, a packet each.
    bool dequeue(uint64_t now_ns, uint32_t& id, uint32_t& bytes, bool& marked) override
    {
        g_now_ns = now_ns;
        for (uint32_t i = 0; i < m_tins; ++i)
        {
            const uint32_t tin = m_turn++ % m_tins;
            linux_packet packet;
            if (linux_dequeue(now_ns, tin, &packet))
            {
                id = packet.id;
                bytes = packet.bytes;
                marked = packet.marked;
                return true;
            }
        }
        return false;
    }

  private:
    uint32_t m_tins, m_turn = 0;
};

} // namespace

void
linux_dropped(uint32_t id)
{
    g_trace->dropped(g_now_ns, id);
}

int
main(int argc, char** argv)
{
    return run(argc, argv, "Linux " KERNEL_VERSION " (bench/oracles/linux_queues.c)", [](const Scenario& scenario, Trace& trace) {
        g_trace = &trace;
        return std::make_unique<LinuxQueue>(scenario);
    });
}
