# ruff: noqa: E501, RUF001 - lines as tools print them
"""Round trips as ping, fping, irtt and netperf print them: what their own summaries say counts."""

from __future__ import annotations

from typing import Any

import pytest

from txop.exchange.imported import Direction, ImportedRun
from txop.exchange.recognise import read_file
from txop.formats.error import FormatError

QUANTILES = ("rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms")


def runs_of(text: str | bytes) -> list[ImportedRun]:
    return read_file(text.encode() if isinstance(text, str) else text, Direction()).runs


def known(run: ImportedRun) -> dict[str, Any]:
    return {key: value.value for key, value in run.metrics.items() if value.value is not None}


def summary(run: ImportedRun) -> tuple[Any, ...]:
    """Least, mean, largest and loss."""
    keys = ("rtt_min_ms", "rtt_mean_ms", "rtt_max_ms", "probe_loss_percent")
    return tuple(run.metrics[key].value if key in run.metrics else None for key in keys)


TWO = """\
user@ap:~$ ping -c 3 -Q 0xb8 10.1.0.1
PING 10.1.0.1 (10.1.0.1) 56(84) bytes of data.
64 bytes from 10.1.0.1: icmp_seq=1 ttl=64 time=1.10 ms
64 bytes from 10.1.0.1: icmp_seq=2 ttl=64 time=1.30 ms
64 bytes from 10.1.0.1: icmp_seq=3 ttl=64 time=1.80 ms

--- 10.1.0.1 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 2002ms
rtt min/avg/max/mdev = 1.100/1.400/1.800/0.294 ms
user@ap:~$ ping -c 3 10.1.0.1
PING 10.1.0.1 (10.1.0.1) 56(84) bytes of data.
64 bytes from 10.1.0.1: icmp_seq=1 ttl=64 time=31.0 ms
64 bytes from 10.1.0.1: icmp_seq=3 ttl=64 time=33.0 ms

--- 10.1.0.1 ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 2003ms
rtt min/avg/max/mdev = 31.000/32.000/33.000/1.000 ms
"""


def test_two_pings_are_two_runs_of_two_tests():
    first, second = runs_of(TWO)
    assert (first.line, second.line) == (2, 11)
    assert (first.test.dscp, second.test.dscp) == ((46,), ())
    assert summary(first) == (1.1, 1.4, 1.8, 0.0)
    assert summary(second) == (31.0, 32.0, 33.0, pytest.approx(100 / 3))
    assert first.metrics["rtt_p50_ms"].value == 1.3
    assert second.metrics["rtt_p99_ms"].infinite


def test_pings_to_other_hosts_and_of_other_sizes_are_other_tests():
    other = TWO.splitlines(keepends=True)[10:]
    tests = {
        run.test
        for text in (
            "".join(other),
            "".join(other).replace("10.1.0.1", "10.1.0.2"),
            "".join(other).replace("56(84)", "1400(1428)"),
        )
        for run in runs_of(text)
    }
    assert {test.setup for test in tests} == {"10.1.0.1, 56 bytes", "10.1.0.2, 56 bytes", "10.1.0.1, 1400 bytes"}


FLOOD = """\
PING 10.1.0.1 (10.1.0.1) 56(84) bytes of data.
.\x08 \x08..
--- 10.1.0.1 ping statistics ---
400 packets transmitted, 398 received, 0.5% packet loss, time 811ms
rtt min/avg/max/mdev = 0.712/1.904/9.511/0.633 ms, pipe 2, ipg/ewma 2.033/1.870 ms
"""


def test_a_summary_alone_has_no_quantiles():
    (flood,) = runs_of(FLOOD)
    assert summary(flood) == (0.712, 1.904, 9.511, 0.5)
    assert [flood.metrics[key].value for key in QUANTILES] == [None] * 3
    assert flood.test.interval_s == pytest.approx(0.002033)
    quiet = FLOOD.replace(".\x08 \x08..\n", "\n").replace(", pipe 2, ipg/ewma 2.033/1.870 ms", "")
    (run,) = runs_of(quiet)
    assert summary(run) == (0.712, 1.904, 9.511, 0.5)
    assert run.test.interval_s == pytest.approx(0.811 / 399)


BSD = """\
PING 10.1.0.1 (10.1.0.1): 56 data bytes
64 bytes from 10.1.0.1: icmp_seq=0 ttl=64 time=11.500 ms
Request timeout for icmp_seq 1
64 bytes from 10.1.0.1: icmp_seq=2 ttl=64 time=12.500 ms

--- 10.1.0.1 ping statistics ---
3 packets transmitted, {received} packets received, {loss}% packet loss
round-trip min/avg/max/stddev = 11.500/{mean}/1260.000/0.500 ms
"""


def test_a_request_timeout_is_lost_only_where_the_summary_says_so():
    (late,) = runs_of(BSD.format(received=3, loss="0.0", mean="428.000"))
    assert summary(late) == (11.5, 428.0, 1260.0, 0.0)
    assert [late.metrics[key].value for key in QUANTILES] == [None] * 3, "one of three round trips is not printed"
    assert "rtt_ms" not in late.series
    (lost,) = runs_of(BSD.format(received=2, loss="33.3", mean="12.000"))
    assert lost.metrics["probe_loss_percent"].value == pytest.approx(100 / 3)
    assert lost.metrics["rtt_p50_ms"].value == 12.5


def test_a_text_that_begins_in_the_middle_lost_nothing_before():
    rows = "".join(f"64 bytes from 10.1.0.1: icmp_seq={n} ttl=64 time={n}.0 ms\n" for n in (40, 41, 43))
    (run,) = runs_of(rows)
    assert summary(run) == (40.0, pytest.approx(124 / 3), 43.0, 25.0)
    ended = (
        rows + "--- 10.1.0.1 ping statistics ---\n43 packets transmitted, 42 received, 2% packet loss, time 42000ms\n"
    )
    (whole,) = runs_of(ended)
    assert whole.metrics["probe_loss_percent"].value == pytest.approx(100 / 43)
    assert whole.metrics["rtt_p50_ms"].value is None


def test_a_late_reply_below_its_timeout_is_not_lost():
    reply = "64 bytes from 10.1.0.1: icmp_seq=1 ttl=64 time=1260.000 ms\n"
    whole = BSD.replace("\n\n", "\n" + reply + "\n", 1).format(received=3, loss="0.0", mean="428.000")
    (run,) = runs_of(whole)
    assert summary(run) == (11.5, 428.0, 1260.0, 0.0)
    assert run.metrics["rtt_p50_ms"].value == 12.5


def test_answers_of_several_hosts_are_refused():
    text = (
        "PING 10.1.0.255 (10.1.0.255): 56 data bytes\n"
        "64 bytes from 10.1.0.4: icmp_seq=0 ttl=64 time=0.300 ms\n"
        "64 bytes from 10.1.0.9: icmp_seq=0 ttl=64 time=5.100 ms\n\n"
        "--- 10.1.0.255 ping statistics ---\n"
        "1 packets transmitted, 1 packets received, +1 duplicates, 0.0% packet loss\n"
        "round-trip min/avg/max/stddev = 0.300/2.700/5.100/2.400 ms\n"
    )
    with pytest.raises(FormatError, match="several hosts"):
        runs_of(text)
    (run,) = runs_of(text.replace("10.1.0.9", "10.1.0.4"))
    assert run.metrics["rtt_p50_ms"].value == 0.3, "a packet that came twice has its first time"
    assert run.metrics["probe_loss_percent"].value == 0.0


PING6 = """\
{name}(56=40+8+8 bytes) fe80::1%en0 --> fe80::2%en0
16 bytes from fe80::2%en0, icmp_seq=0 hlim=64 time=2.250 ms
16 bytes from fe80::2%en0, icmp_seq=1 hlim=64 time=3.750 ms

--- fe80::2%en0 ping6 statistics ---
3 packets transmitted, 2 packets received, 33.3% packet loss
round-trip min/avg/max/std-dev = 2.250/3.000/3.750/0.750 ms
"""


@pytest.mark.parametrize("name", ["PING6", "PING"])
def test_ping6_of_macos_and_freebsd(name):
    (run,) = runs_of(PING6.format(name=name))
    assert summary(run) == (2.25, 3.0, 3.75, pytest.approx(100 / 3))
    assert run.metrics["rtt_p50_ms"].value == 3.75
    assert run.test.setup == "fe80::2%en0, 8 bytes"


def test_round_trips_of_fping_in_a_line():
    first, second = runs_of("10.1.0.1 : 1.25 2.50 - 0.75\nnas.lan  : 9.1 8.1 7.1 6.1\n")
    assert first.metrics["probe_loss_percent"].value == 25.0
    assert first.metrics["rtt_p50_ms"].value == 1.25
    assert summary(first)[:3] == (0.75, 1.5, 2.5)
    assert first.series["rtt_ms"] == [(0.0, 1.25), (1.0, 2.5), (2.0, None), (3.0, 0.75)]
    assert (second.test.setup, second.metrics["rtt_p50_ms"].value) == ("nas.lan", 7.1)


def test_the_summary_of_fping():
    (run,) = runs_of("10.1.0.1 : xmt/rcv/%loss = 20/19/5%, min/avg/max = 0.51/1.04/3.30\n")
    assert summary(run) == (0.51, 1.04, 3.3, 5.0)
    with pytest.raises(FormatError, match="fping -C"):
        runs_of("10.1.0.1 is alive\n10.1.0.2 is unreachable\n")


WINDOWS = {
    "en": ("Pinging gw.lan [10.1.0.1] with 32 bytes of data:", "Reply from 10.1.0.1: bytes=32 time{}ms TTL=64",
           "Request timed out.", "Ping statistics for 10.1.0.1:", "    Packets: Sent = {}, Received = {}, Lost = {} ({}% loss),",
           "Approximate round trip times in milli-seconds:", "    Minimum = {}ms, Maximum = {}ms, Average = {}ms"),
    "de": ("Ping wird ausgeführt für gw.lan [10.1.0.1] mit 32 Bytes Daten:", "Antwort von 10.1.0.1: Bytes=32 Zeit{}ms TTL=64",
           "Zeitüberschreitung der Anforderung.", "Ping-Statistik für 10.1.0.1:",
           "    Pakete: Gesendet = {}, Empfangen = {}, Verloren = {}\n    ({}% Verlust),", "Ca. Zeitangaben in Millisek.:",
           "    Minimum = {}ms, Maximum = {}ms, Mittelwert = {}ms"),
    "fr": ("Envoi d’une requête 'ping' sur gw.lan [10.1.0.1] avec 32 octets de données :",
           "Réponse de 10.1.0.1 : octets=32 temps{} ms TTL=64", "Délai d’attente de la demande dépassé.",
           "Statistiques Ping pour 10.1.0.1:", "    Paquets : envoyés = {}, reçus = {}, perdus = {} (perte {}%),",
           "Durée approximative des boucles en millisecondes :", "    Minimum = {}ms, Maximum = {}ms, Moyenne = {}ms"),
    "it": ("Esecuzione di Ping gw.lan [10.1.0.1] con 32 byte di dati:", "Risposta da 10.1.0.1: byte=32 durata{}ms TTL=64",
           "Richiesta scaduta.", "Statistiche Ping per 10.1.0.1:",
           "    Pacchetti: Trasmessi = {}, Ricevuti = {},\n    Persi = {} ({}% persi),",
           "Tempo approssimativo percorsi andata/ritorno in millisecondi:",
           "    Minimo = {}ms, Massimo =  {}ms, Medio =  {}ms"),
    "ru": ("Обмен пакетами с gw.lan [10.1.0.1] с 32 байтами данных:", "Ответ от 10.1.0.1: число байт=32 время{}мс TTL=64",
           "Превышен интервал ожидания для запроса.", "Статистика Ping для 10.1.0.1:",
           "    Пакетов: отправлено = {}, получено = {}, потеряно = {}\n    ({}% потерь)",
           "Приблизительное время приема-передачи в мс:", "    Минимальное = {}мсек, Максимальное = {} мсек, Среднее = {} мсек"),
    "zh": ("正在 Ping gw.lan [10.1.0.1] 具有 32 字节的数据:", "来自 10.1.0.1 的回复: 字节=32 时间{}ms TTL=64", "请求超时。",
           "10.1.0.1 的 Ping 统计信息:", "    数据包: 已发送 = {}\uff0c已接收 = {}\uff0c丢失 = {} ({}% 丢失)\uff0c",
           "往返行程的估计时间(以毫秒为单位):", "    最短 = {}ms\uff0c最长 = {}ms\uff0c平均 = {}ms"),
}  # fmt: skip


def windows(language: str, times: list[str | None], statistics: bool = True) -> str:
    """What ping prints there of such times (``=5``, ``<1``); ``None``: no answer."""
    head, reply, lost, title, counts, round_trips, figures = WINDOWS[language]
    values = [0 if time == "<1" else int(time[1:]) for time in times if time is not None]
    n, received = len(times), len(values)
    rows = [head, *(lost if time is None else reply.format(time) for time in times)]
    if statistics:
        share = 100 * (n - received) // n
        mean = sum(values) // received
        rows += ["", title, counts.format(n, received, n - received, share), round_trips]
        rows += [figures.format(min(values), max(values), mean)]
    return "\r\n" + "\r\n".join(row.replace("\n", "\r\n") for row in rows) + "\r\n"


@pytest.mark.parametrize("language", WINDOWS)
def test_ping_of_windows_in_any_language(language):
    (run,) = runs_of(windows(language, ["=4", "=12", None, "=9"]))
    assert summary(run) == (4.0, 8.0, 12.0, 25.0)
    assert run.metrics["rtt_p50_ms"].value == 9.0
    assert run.metrics["rtt_p99_ms"].infinite
    assert run.test.setup == "10.1.0.1, 32 bytes"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp850"])
def test_ping_of_windows_as_its_shells_write_it(encoding):
    (run,) = runs_of(windows("de", ["=4", "=12", "=9"]).encode(encoding))
    assert summary(run) == (4.0, 8.0, 12.0, 0.0)


def test_a_bound_is_no_time():
    (run,) = runs_of(windows("en", ["<1", "<1", "<1", "=7"]))
    assert run.metrics["rtt_p50_ms"].value is None
    assert run.metrics["rtt_p95_ms"].value == 7.0
    assert summary(run) == (None, 1.0, 7.0, 0.0), "the mean is that of Windows, which counts 0"
    assert "rtt_ms" not in run.series
    assert any("count as 0" in warning for warning in run.warnings)


def test_what_a_router_says_is_no_answer():
    text = windows("en", ["=4", "=4"]).replace("Reply from 10.1.0.1: bytes=32 time=4ms TTL=64",
                                               "Reply from 10.1.0.7: Destination host unreachable.", 1)  # fmt: skip
    (run,) = runs_of(text)
    assert run.metrics["probe_loss_percent"].value == 50.0
    assert any("1 of which" in warning for warning in run.warnings)


def test_several_runs_of_windows_and_ipv6():
    six = (
        "\r\nPinging 2001:db8::9 with 32 bytes of data:\r\nReply from 2001:db8::9: time=14ms \r\n"
        "Reply from 2001:db8::9: time<1ms \r\n\r\nPing statistics for 2001:db8::9:\r\n"
        "    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\r\n"
        "Approximate round trip times in milli-seconds:\r\n    Minimum = 0ms, Maximum = 14ms, Average = 7ms\r\n"
    )
    first, second = runs_of(
        "C:\\Users\\me>ping gw.lan\r\n" + windows("en", ["=4", None]) + "\r\nC:\\Users\\me>ping x\r\n" + six
    )
    assert summary(first) == (4.0, 4.0, 4.0, 50.0)
    assert summary(second) == (None, 7.0, 14.0, 0.0)


def test_statistics_of_windows_alone():
    text = "\r\n".join(windows("en", ["=4", "=8"]).split("\r\n")[4:])
    (run,) = runs_of(text)
    assert summary(run) == (4.0, 6.0, 8.0, 0.0)
    assert [run.metrics[key].value for key in QUANTILES] == [None] * 3


IRTT = """\
[Connecting] connecting to 10.1.0.1:2112
[10.1.0.1:2112] [Connected] connection established
seq=0 rtt=1.2ms rd=400µs sd=800µs ipdv=n/a
seq=1 rtt=900µs rd=300µs sd=600µs ipdv=300µs
seq=3 rtt=2.4ms rd=1.2ms sd=1.2ms ipdv=n/a
[10.1.0.1:2112] [WaitForPackets] waiting 9ms for final packets

                        Min    Mean  Median     Max  Stddev
                        ---    ----  ------     ---  ------
                RTT   900µs   1.5ms   1.2ms   2.4ms   794µs
         send delay   600µs   867µs   800µs   1.2ms   306µs

                duration: 3.01s (wait 9ms)
   packets sent/received: 4/3 (25.00% loss)
 server packets received: 4/4 (0.00%/25.00% loss up/down)
           packet length: 60 bytes
"""


def test_the_text_of_irtt():
    (run,) = runs_of(IRTT)
    assert summary(run) == (0.9, 1.5, 2.4, 25.0)
    assert run.metrics["rtt_stddev_ms"].value == 0.794
    assert run.metrics["rtt_p50_ms"].value == 1.2
    assert run.metrics["rtt_p99_ms"].infinite
    assert run.test.interval_s == pytest.approx(3.01 / 3)
    quiet = "".join(line for line in IRTT.splitlines(keepends=True) if not line.startswith("seq="))
    (summed,) = runs_of(quiet)
    assert summary(summed) == (0.9, 1.5, 2.4, 25.0)
    assert [summed.metrics[key].value for key in QUANTILES] == [None] * 3
    (lossless,) = runs_of(quiet.replace("4/3 (25.00% loss)", "3/3 (0.00% loss)"))
    assert lossless.metrics["rtt_p50_ms"].value == 1.2


def test_requests_of_netperf_one_at_a_time():
    text = (
        "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.1.0.1 () port 0 AF_INET : demo"
        " : first burst {}\nLocal /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\n"
        "Send   Recv   Size     Size    Time     Rate         \nbytes  Bytes  bytes    bytes   secs.    per sec   \n\n"
        "16384  131072 1        1       10.00    625.00   \n16384  131072\n"
    )
    (run,) = runs_of(text.format(0))
    assert known(run) == {"rtt_mean_ms": pytest.approx(1.6)}
    assert run.test.name == "tcp_rr"
    with pytest.raises(FormatError, match="5 requests at once"):
        runs_of(text.format(4))


def test_irtt_text_with_its_json_below_is_read_once(captured_irtt):
    (run,) = runs_of(captured_irtt("v0.9.0-lossy.txt"))
    assert summary(run) == (
        pytest.approx(5.56, abs=0.005), pytest.approx(23.69, abs=0.005), pytest.approx(83.49, abs=0.005), 22.5,
    )  # fmt: skip
    assert run.metrics["rtt_p50_ms"].value is not None, "of the JSON, which has every packet"


@pytest.fixture
def captured_irtt():
    from pathlib import Path

    return lambda name: (Path(__file__).parents[1] / "formats/captured/irtt" / name).read_bytes()
