"""What has to happen in a simulation for it to be worth anything: counted, and asked for."""

from __future__ import annotations

from enum import Enum


class Story(Enum):
    THREE_PIPELINED_FAIL = "a commit fails with three pipelined appends of one producer"
    DUPLICATE_NOT_DURABLE = "a duplicate comes of a batch that is not yet durable"
    RETRY_AFTER_LOST_REPLY = "a batch is retried after its reply was lost"
    DELETED_UNDER_LOAD = "a topic is deleted while appends to it are on their way"
    FETCH_OVER_CRASH = "a fetch waits while the broker crashes"
    FETCH_OVER_FAILURE = "a fetch waits while a commit of its partition fails"
    FAILED_BEHIND = "appends that gathered behind a commit fail with it"
    TORN_COMMIT = "the broker dies in a commit that was kept"
    DROPPED_COMMIT = "the broker dies in a commit that was not kept"
    LOST_WHILE_RUNNING = "a connection is lost while its requests run"
    PARKED = "a connection is lost with requests parked behind one that runs"
    UNREAD = "a client leaves its answers unread until the broker pauses"
    DRAINED = "the broker is stopped in order while fetches wait"
    UNREADABLE = "a partition cannot be read for a while"
    SNAPSHOT = "a partition is recovered from a snapshot"
    SLOW_COMMIT = "five connections wait for a slow commit"
    CLOCK_SET_BACK = "the clock is set back"
    CLOCK_SET_FORWARD = "the clock is set forward"
    COMPRESSED = "a compressed batch is acknowledged"
    SPOILED = "a batch is spoiled on its way, refused and sent again"
    FOUND_BY_TIME = "a moment is looked for and found"
    LONG_SEARCH = "a search by time takes more than a pass"
    PRODUCERS_EXPIRED = "producers fall silent and are forgotten"
    MADE_BY_ASKING = "a topic comes to be because somebody asks for it"
    CHECKED_WHILE_MADE = "a topic is checked for while it is being made"
    GROWN = "a topic grows while producers send to it"
