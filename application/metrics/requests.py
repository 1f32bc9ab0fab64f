"""What is read of requests: how many, how large, how long, and how they failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from application.metrics.families import jmx, own
from application.metrics.families.family import Reading, in_readings
from application.metrics.families.request_counts import Counted, RequestCounts

QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)


class RequestReadings:
    def __init__(
        self, counted: Callable[[], Iterable[Counted]], error_names: Mapping[int, str]
    ) -> None:
        self._counted = counted
        self._error_names = error_names

    def read(self) -> Iterator[Reading]:
        counted = sorted(self._counted(), key=lambda one: one[:2])
        of_api: dict[str, RequestCounts] = {}
        for api, _, counts in counted:
            of_api.setdefault(api, RequestCounts()).merge(counts)
            yield own.WITHOUT_RESPONSE, []
        apis = of_api.items()
        yield own.WITHOUT_RESPONSE, [((api,), counts.without_response) for api, counts in apis]
        answered = [one for one in counted if one[2].requests]
        yield jmx.REQUESTS, [((api, str(v)), counts.requests) for api, v, counts in answered]
        yield own.REQUEST_BYTES, [((api,), counts.bytes_in) for api, counts in apis]
        yield own.RESPONSE_BYTES, [((api,), counts.bytes_out) for api, counts in apis]
        names = self._error_names
        errors = (
            ((api, names[code]), count)
            for api, counts in apis
            for code, count in counts.errors.items()
        )
        yield from in_readings(jmx.REQUEST_ERRORS, errors)
        quantiles = (
            ((api, str(quantile)), counts.total.quantile_ns(quantile) / 1e6)
            for api, counts in apis
            for quantile in QUANTILES
        )
        yield from in_readings(jmx.TOTAL_TIME_MS, quantiles)
        for api, counts in apis:
            yield own.REQUEST_TIME, [((api,), counts.total.histogram())]
        yield own.REQUEST_TIME, []
        for api, counts in apis:
            of_stages = counts.stages.items()
            yield own.STAGE_TIME, [((api, stage), each.mean()) for stage, each in of_stages]
        yield own.STAGE_TIME, []
