"""Clients that mean no good, over real sockets, to a broker in a process of its own."""
