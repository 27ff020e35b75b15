"""Publishes messages: publish.py HOST:PORT USER PASSWORD, and one JSON object per line of standard input.

{"exchange": "neutron", "key": "notifications.info", "body": "…" or "bytes": N (so many blanks), "times": 1,
 "type": "application/json", "encoding": "utf-8"}
"""
import json
import sys

import amqp

with amqp.Connection(sys.argv[1], sys.argv[2], sys.argv[3]) as connection:
    channel = connection.channel()
    for line in sys.stdin:
        said = json.loads(line)
        body = said["body"] if "body" in said else " " * said["bytes"]
        message = amqp.Message(
            body,
            content_type=said.get("type", "application/json"),
            content_encoding=said.get("encoding", "utf-8"),
        )
        for _ in range(said.get("times", 1)):
            channel.basic_publish(message, said["exchange"], said["key"])
