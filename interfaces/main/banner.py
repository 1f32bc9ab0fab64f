"""The text of `ottla serve` on a terminal."""

from __future__ import annotations

from interfaces.main.started import OpenListener, Started


def banner(started: Started) -> str:
    settings = started.settings
    rows = [("listening", _listening(listener)) for listener in started.listeners]
    rows += [("raw", f"{each}, topic {settings.broker.raw_topic}") for each in started.raw]
    rows += [("admin", url) for url in started.admin_urls]
    if started.admin:
        rows.append(("rest api", f"{started.admin_urls[0]}/docs"))
    if started.brokers:
        rows.append(("cluster", started.brokers))
    rows.append(("storage", f"{started.storage}  ({started.recovered})"))
    if not settings.storage.in_memory:
        rows.append(("flush", f"{settings.broker.flush}: {started.flush_meaning}"))
    if settings.offsets.shown is not None:
        rows.append(("offsets", settings.offsets.shown))
    if settings.file is not None:
        rows.append(("settings", str(settings.file)))
    rows.append(("try", f"kcat -b {started.listeners[0].bootstrap} -L"))
    lines = [f"Ottla {started.version}, cluster {started.cluster_id}", ""]
    lines += [f"  {name:<9}  {text}" for name, text in rows]
    if risks := started.risks():
        lines += ["", *(f"  !! {risk.detail.upper()}" for risk in risks)]
    lines += ["", "Ctrl-C stops the broker.", ""]
    return "\n".join(lines)


def _listening(listener: OpenListener) -> str:
    advertised = listener.advertised or "the address each client connects to"
    return f"{listener.address.name} {listener.bound} -> {advertised}"
