// Replays an arrival pattern through a queue that a constant-rate link drains, and writes down what happened to every packet.
//
// A scenario file says the pattern; `crates/link/src/queue/oracle_tests.rs` reads the same files and replays them through txop's
// queues. Arrivals come before departures of the same nanosecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

struct Arrival
{
    uint64_t at_ns;
    uint32_t id, flow, bytes;
    bool ecn;
};

/// What a scenario file says, up to its line `trace`.
struct Scenario
{
    std::string text;
    std::map<std::string, std::string> queue;
    uint64_t rate_kbit_s = 0;
    std::vector<Arrival> arrivals;

    uint64_t number(const std::string& key) const { return std::stoull(queue.at(key)); }
};

inline Scenario
read_scenario(const std::string& path)
{
    Scenario scenario;
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line) && line != "trace")
    {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "tool")
        {
            continue;
        }
        scenario.text += line + "\n";
        if (word == "queue")
        {
            words >> scenario.queue["kind"];
            while (words >> word)
            {
                scenario.queue[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
            }
        }
        else if (word == "rate_kbit_s")
        {
            words >> scenario.rate_kbit_s;
        }
        else if (word == "flow")
        {
            // Number, then in µs: first packet, end, shortest gap, what the gap varies by, time on, time off; bytes, what
            // they vary by; 1 if ECN-capable.
            uint64_t flow, start, stop, gap, gap_span, on, off, bytes, bytes_span, ecn;
            words >> flow >> start >> stop >> gap >> gap_span >> on >> off >> bytes >> bytes_span >> ecn;
            uint64_t state = flow;
            auto below = [&state](uint64_t span) {
                state = state * 6364136223846793005ull + 1442695040888963407ull;
                return span == 0 ? 0 : (state >> 33) % span;
            };
            for (uint64_t at = start; at < stop; at += gap + below(gap_span))
            {
                if (off == 0 || (at - start) % (on + off) < on)
                {
                    scenario.arrivals.push_back({at * 1000, 0, uint32_t(flow), uint32_t(bytes + below(bytes_span)), ecn != 0});
                }
            }
        }
    }
    std::stable_sort(scenario.arrivals.begin(), scenario.arrivals.end(), [](const Arrival& a, const Arrival& b) {
        return std::make_pair(a.at_ns, a.flow) < std::make_pair(b.at_ns, b.flow);
    });
    for (size_t i = 0; i < scenario.arrivals.size(); ++i)
    {
        scenario.arrivals[i].id = uint32_t(i);
    }
    return scenario;
}

/// The trace: packets in the order of their departure, `m` behind those that were marked, `-` before those that were
/// dropped, and the time of marks and drops.
class Trace
{
  public:
    void departed(uint64_t now_ns, uint32_t id, bool marked)
    {
        add(std::to_string(id) + (marked ? "m@" + std::to_string(now_ns) : ""));
    }
    void dropped(uint64_t now_ns, uint32_t id) { add("-" + std::to_string(id) + "@" + std::to_string(now_ns)); }
    std::string text() const { return m_text + (m_column ? "\n" : ""); }

  private:
    void add(const std::string& token)
    {
        if (m_column + token.size() > 110)
        {
            m_text += "\n";
            m_column = 0;
        }
        m_text += (m_column ? " " : "") + token;
        m_column += token.size() + 1;
    }
    std::string m_text;
    size_t m_column = 0;
};

/// A queue under test. It reports drops to the trace itself.
struct TestedQueue
{
    virtual ~TestedQueue() = default;
    virtual void enqueue(const Arrival& arrival) = 0;
    /// The next packet (its number, bytes and whether it is marked); false: none.
    virtual bool dequeue(uint64_t now_ns, uint32_t& id, uint32_t& bytes, bool& marked) = 0;
};

inline void
replay(const Scenario& scenario, TestedQueue& queue, Trace& trace)
{
    size_t next = 0;
    bool busy = false;
    uint64_t idle_ns = 0;
    while (next < scenario.arrivals.size() || busy)
    {
        uint64_t now_ns;
        if (next < scenario.arrivals.size() && (!busy || scenario.arrivals[next].at_ns <= idle_ns))
        {
            now_ns = scenario.arrivals[next].at_ns;
            queue.enqueue(scenario.arrivals[next++]);
            if (busy)
            {
                continue;
            }
        }
        else
        {
            now_ns = idle_ns;
        }
        uint32_t id, bytes;
        bool marked;
        busy = queue.dequeue(now_ns, id, bytes, marked);
        if (busy)
        {
            trace.departed(now_ns, id, marked);
            idle_ns = now_ns + bytes * 8000000ull / scenario.rate_kbit_s;
        }
    }
}

/// Replays each scenario of the command line and writes its trace into it.
template <typename Make>
int
run(int argc, char** argv, const std::string& tool, Make make)
{
    for (int i = 1; i < argc; ++i)
    {
        const Scenario scenario = read_scenario(argv[i]);
        Trace trace;
        std::unique_ptr<TestedQueue> queue = make(scenario, trace);
        replay(scenario, *queue, trace);
        std::ofstream(argv[i]) << scenario.text << "tool " << tool << "\ntrace\n" << trace.text();
        std::cout << argv[i] << ": " << scenario.arrivals.size() << " packets\n";
    }
    return 0;
}
