// CoDel and FQ-CoDel of ns-3 (CoDelQueueDisc, FqCoDelQueueDisc), replayed by replay.hpp.
//
// Build with the headers and libraries of ns-3 3.44 (the PyPI wheel ns3==3.44.post0 has both); see README.md.
#include "replay.hpp"

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace
{

/// A packet of one flow.
class Numbered : public QueueDiscItem
{
  public:
    Numbered(const Arrival& arrival)
        : QueueDiscItem(Create<Packet>(arrival.bytes), Address(), 0),
          arrival(arrival)
    {
    }
    void AddHeader() override {}
    bool Mark() override
    {
        marked |= arrival.ecn;
        return arrival.ecn;
    }
    uint32_t Hash(uint32_t) const override { return arrival.flow; }

    const Arrival arrival;
    bool marked = false;
};

void
set_clock(uint64_t now_ns)
{
    Simulator::Schedule(NanoSeconds(now_ns) - Simulator::Now(), [] {});
    Simulator::Run();
}

class Ns3Queue : public TestedQueue
{
  public:
    Ns3Queue(const Scenario& scenario, Trace& trace)
    {
        const bool fq = scenario.queue.at("kind") == "fq_codel";
        const Time target = MicroSeconds(scenario.number("target_us"));
        const Time interval = MicroSeconds(scenario.number("interval_us"));
        const std::string packets = scenario.queue.at("packets") + "p";
        // MAXPACKET: ns-3 spares a queue with less than this, the RFC one with no more.
        Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(scenario.number("spared_bytes") + 1));
        ObjectFactory factory(fq ? "ns3::FqCoDelQueueDisc" : "ns3::CoDelQueueDisc");
        factory.Set("MaxSize", StringValue(packets));
        factory.Set("UseEcn", BooleanValue(scenario.number("ecn") != 0));
        if (fq)
        {
            factory.Set("Target", StringValue(std::to_string(target.GetMicroSeconds()) + "us"));
            factory.Set("Interval", StringValue(std::to_string(interval.GetMicroSeconds()) + "us"));
            factory.Set("Flows", UintegerValue(scenario.number("flows")));
            factory.Set("DropBatchSize", UintegerValue(scenario.number("drop_batch")));
        }
        else
        {
            factory.Set("Target", TimeValue(target));
            factory.Set("Interval", TimeValue(interval));
        }
        m_disc = factory.Create<QueueDisc>();
        if (fq)
        {
            DynamicCast<FqCoDelQueueDisc>(m_disc)->SetQuantum(scenario.number("quantum_bytes"));
        }
        m_disc->Initialize();
        m_disc->TraceConnectWithoutContext(
            "Drop",
            Callback<void, Ptr<const QueueDiscItem>>([&trace](Ptr<const QueueDiscItem> item) {
                trace.dropped(Simulator::Now().GetNanoSeconds(), DynamicCast<const Numbered>(item)->arrival.id);
            }));
    }
    ~Ns3Queue() override
    {
        m_disc = nullptr;
        Simulator::Destroy();
    }
    void enqueue(const Arrival& arrival) override
    {
        set_clock(arrival.at_ns);
        m_disc->Enqueue(Create<Numbered>(arrival));
    }
    bool dequeue(uint64_t now_ns, uint32_t& id, uint32_t& bytes, bool& marked) override
    {
        set_clock(now_ns);
        Ptr<Numbered> item = DynamicCast<Numbered>(m_disc->Dequeue());
        if (!item)
        {
            return false;
        }
        id = item->arrival.id;
        bytes = item->arrival.bytes;
        marked = item->marked;
        return true;
    }

  private:
    Ptr<QueueDisc> m_disc;
};

} // namespace

int
main(int argc, char** argv)
{
    return run(argc, argv, "ns-3 3.44 (bench/oracles/ns3_queues.cc)", [](const Scenario& scenario, Trace& trace) {
        return std::make_unique<Ns3Queue>(scenario, trace);
    });
}
